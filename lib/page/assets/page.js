// The report page's script: sections, tables, the heat map, the flame graph. All is in the page without it but these
// two and the timeline. Names from traces only ever become text nodes or text on a canvas.
'use strict';

const page = {
  colours: {},
  readers: [],  // called with the deep link's values, and when colours or sizes change
  redraws: [],
  heats: {},  // by side: '', 'base', 'new', 'delta'
  timelines: {},
  place: {section: 'overview'},  // what the address says, without colours and zoom
};

page.make = (name, text, parent) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

page.bytes = (id) => {
  const element = document.getElementById(id);
  return element ? Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0)) : new Uint8Array(0);
};

page.json = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};

// Three digits after the point and a unit that fits, as in the tables.
page.duration = (ns) => {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  const [unit, length] = size < 1e6 ? ['us', 1e3] : size < 1e9 ? ['ms', 1e6] : ['s', 1e9];
  return `${(ns / length).toFixed(3)} ${unit}`;
};

// The timeline of a side; of a page of two, without a side, the first.
page.timelineOf = (side) => page.timelines[side || ''] || page.timelines.base || page.timelines.new;

page.isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

page.readColours = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['page', 'card', 'ink', 'soft', 'line', 'mark', 'step', 'link', 'bad', 'kernel', 'memcpy', 'memset', 'communication',
    'runtime', 'dataloader', 'cpu', 'host_code', 'other', 'waiting', ...page.phases])
    page.colours[name] = style.getPropertyValue(`--${name}`).trim();
};

// A canvas that is as sharp as the screen; returns its context and its size in CSS pixels.
page.prepare = (canvas, height) => {
  // Browsers draw no canvas that is higher than some 32,000 pixels.
  const scale = Math.min(window.devicePixelRatio || 1, 3, 30000 / height);
  const width = canvas.clientWidth || canvas.parentElement.clientWidth || 800;
  canvas.style.height = `${height}px`;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  // A new size makes a new picture, which costs more than to clear the old one.
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return {context, width, height};
};

page.tip = (() => {
  const tip = page.make('div', '', document.body);
  tip.className = 'tip';
  tip.hidden = true;
  return {
    show(text, x, y) {
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 8 : y + 18}px`;
    },
    hide() { tip.hidden = true; },
  };
})();

// Shows what words(event) says of the place that is pointed at, unless that is nothing.
page.addTip = (canvas, words) => {
  canvas.addEventListener('pointermove', (event) => {
    const text = words(event);
    if (text) page.tip.show(text, event.clientX, event.clientY);
    else page.tip.hide();
  });
  canvas.addEventListener('pointerleave', page.tip.hide);
};

// A name in the room of so many letters.
page.fitted = (name, most) => name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name;

// ---- sections -------------------------------------------------------------------------------------------------------
page.showSection = (id) => {
  const section = document.getElementById(id);
  for (const other of document.querySelectorAll('main > section')) other.classList.toggle('shown', other === section);
  for (const link of document.querySelectorAll('nav a'))
    if (link.hash === `#${id}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
};

page.redraw = () => {
  page.readColours();
  for (const draw of page.redraws) draw();
};

// The address of a place; what has no value is left out.
page.address = (section, values) => {
  const parts = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return `#${[section, ...parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`)].join('&')}`;
};

// "#time" shows a section, "#rank=3&step=12" a moment of the timeline; both: "#time&rank=3". What else an address has:
// name, side, from and to (ns of the timeline), select, theme.
page.readAddress = (text) => {
  const values = {};
  let section = null;
  for (const part of text.slice(1).split('&')) {
    const at = part.indexOf('=');
    let value = '';
    try { value = decodeURIComponent(part.slice(at + 1)); } catch { continue; }
    if (at < 0) section = value || section;
    else values[part.slice(0, at)] = value;
  }
  const hasPlace = values.rank !== undefined || values.step !== undefined;
  return {section: section || (hasPlace ? 'timeline' : 'overview'), values};
};

// Readers take what they show from the address, then all is drawn once, and what they return brings it into view.
page.follow = () => {
  const {section, values} = page.readAddress(location.hash);
  // An address that this page wrote has everything, so what it has not is as at first. A link keeps the rest.
  values.isWhole = history.state?.isWhole === true;
  page.place = {section: document.getElementById(section)?.tagName === 'SECTION' ? section : 'overview'};
  for (const key of ['rank', 'step', 'name', 'side']) if (values[key] !== undefined) page.place[key] = values[key];
  if (values.theme === 'dark' || values.theme === 'light') page.showTheme(values.theme);
  else if (values.isWhole) page.showTheme(undefined);
  // The browser has scrolled to the section, so that its title is behind the contents list.
  scrollTo(0, 0);
  page.showSection(page.place.section);
  const ends = page.readers.map((read) => read(values));
  page.redraw();
  for (const end of ends) if (end) end();
  page.writeAddress();
};

// Follows a link at once: the browser tells of a new address only later.
page.goTo = (address) => {
  if (location.hash !== address) history.pushState(null, '', address);
  page.follow();
};

// Keeps what is shown in the address, so that a reload or whoever gets it sees the same.
page.writeAddress = () => {
  clearTimeout(page.writing);
  const before = location.hash;
  page.writing = setTimeout(() => {
    // Someone has gone to another place, and the browser has not told of it yet.
    if (location.hash !== before) return;
    const {section, ...values} = page.place;
    const timeline = page.timelineOf(page.place.side);
    const time = (ns) => Math.round(ns - timeline.origin);
    if (timeline && !timeline.isWhole()) [values.from, values.to] = [time(timeline.view().start), time(timeline.view().end)];
    const selection = timeline && timeline.selection();
    if (selection) values.select = `${time(selection.from)}_${time(selection.to)}`;
    values.theme = document.documentElement.dataset.theme;
    const address = page.address(section, values);
    history.replaceState({isWhole: true}, '', address === '#overview' && !location.hash ? undefined : address);
  }, 200);
};

page.showTheme = (theme) => {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  page.themeButton.textContent = `Colours: ${theme || 'as the system'}`;
};

page.addTheme = () => {
  page.themeButton = page.make('button', 'Colours: as the system', document.querySelector('header'));
  page.themeButton.type = 'button';
  page.themeButton.addEventListener('click', () => {
    page.showTheme({undefined: 'dark', dark: 'light', light: undefined}[document.documentElement.dataset.theme]);
    page.redraw();
    page.writeAddress();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.redraw());
};

// A print has all sections, so all pictures are drawn for it.
page.followPrint = () => {
  const show = (isPrint) => {
    document.body.classList.toggle('tabs', !isPrint);
    page.redraw();
  };
  matchMedia('print').addEventListener('change', (event) => show(event.matches));
  addEventListener('beforeprint', () => show(true));
  addEventListener('afterprint', () => show(false));
};

