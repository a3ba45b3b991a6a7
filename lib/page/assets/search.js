// Search over all names: kernels and operators of the run, spans of the timeline, ranks and steps.
page.searchIndex = () => {
  if (page.index) return page.index;
  page.index = [];
  for (const id of ['names', 'base-names', 'new-names'])
    for (const [kind, name, count, total] of page.json(id) || [])
      page.index.push({kind, name, count, total_ns: total, side: id === 'names' ? undefined : id.split('-')[0]});
  return page.index;
};

page.findName = (name, side) => page.searchIndex().find((one) => one.name === name && one.side === (side || undefined)) ||
  page.searchIndex().find((one) => one.name === name);

// Where a name leads: to its longest span, or to the row of a section that has it.
page.nameAddress = (name, side, section = 'work') => {
  const isDrawn = page.timelineOf(side)?.nameSet.has(name);
  return page.address(isDrawn ? 'timeline' : section, {name, side});
};

page.addNameLink = (parent, name, side) => {
  const hit = page.findName(name, side);
  if (!hit) return;
  const link = page.make('a', `${hit.kind}: ${hit.count} times, ${page.duration(hit.total_ns)} in all`, parent);
  link.href = page.address('work', {name, side});
};

page.search = (text) => {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const hits = page.searchIndex().filter((one) => one.name.toLowerCase().includes(wanted))
    .map((one) => ({...one, href: page.nameAddress(one.name, one.side)}));
  const known = new Set(hits.map((hit) => hit.name));
  for (const [side, timeline] of Object.entries(page.timelines)) {
    for (const name of timeline.names)
      if (!known.has(name) && name.toLowerCase().includes(wanted)) {
        known.add(name);
        hits.push({kind: 'span', name, count: 1, total_ns: 0, href: page.nameAddress(name, side || undefined)});
      }
    const rank = /^rank (\d+)$/.exec(wanted);
    if (rank && timeline.facts.rows.some((row) => `${row.rank}` === rank[1]))
      hits.unshift({kind: 'rank', name: wanted, count: 1, total_ns: 0, href: page.address('timeline', {rank: rank[1], side})});
    const step = /^step (\S+)$/.exec(wanted);
    if (step && timeline.facts.steps.some(([label]) => label === step[1]))
      hits.unshift({kind: 'step', name: wanted, count: 1, total_ns: 0, href: page.address('timeline', {step: step[1], side})});
  }
  // What begins with the words stands first, then what takes longest.
  const begins = (hit) => hit.name.toLowerCase().startsWith(wanted) ? 0 : 1;
  return hits.sort((a, b) => begins(a) - begins(b) || b.total_ns - a.total_ns);
};

page.addSearch = () => {
  const label = page.make('label', 'Search ', document.querySelector('header'));
  label.className = 'search';
  const input = page.make('input', undefined, label);
  input.type = 'search';
  input.placeholder = 'name, rank 3, step 12 ( / )';
  const list = page.make('ul');
  list.className = 'hits';
  list.hidden = true;
  document.querySelector('header').after(list);
  const status = page.make('p', '');
  status.id = 'search-status';
  status.className = 'status found-name';
  status.setAttribute('role', 'status');
  list.after(status);
  const fill = () => {
    const hits = page.search(input.value).slice(0, 20);
    list.replaceChildren();
    list.hidden = input.value.trim() === '';
    if (hits.length === 0) page.make('li', 'Nothing has that name.', list);
    for (const hit of hits) {
      const item = page.make('li', '', list);
      const link = page.make('a', page.fitted(hit.name, 120), item);
      link.href = hit.href;
      item.append(hit.total_ns > 0 ? ` ${hit.kind}, ${hit.count} times, ${page.duration(hit.total_ns)}` : ` ${hit.kind}`);
    }
    return hits;
  };
  input.addEventListener('input', fill);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') input.value = '';
    const hits = fill();
    if (event.key !== 'Enter' || hits.length === 0) return;
    event.preventDefault();
    list.hidden = true;
    input.blur();
    page.goTo(hits[0].href);
  });
  list.addEventListener('click', () => { list.hidden = true; });
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
};

