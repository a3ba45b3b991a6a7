// ---- flame graph: the rows of the table of the tree, or the tree of a rank -------------------------------------------------------------------
page.treeNodes = (table) => {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.k);
  return page.nestNodes([...table.tBodies[0].rows].map((row) => {
    const value = (key) => keys.includes(key) ? page.cellValue(row, keys.indexOf(key)) || 0 : 0;
    return {depth: Number(row.dataset.d), name: row.cells[keys.indexOf('name')].textContent.trim(),
      host: value('host_total_ns'), device: value('device_total_ns')};
  }));
};

// The tree of a rank alone, which is data: four numbers a row.
page.rankNodes = (rows, names) => page.nestNodes(Array.from({length: rows.length / 4}, (_, i) =>
  ({depth: rows[4 * i], host: rows[4 * i + 1], device: rows[4 * i + 2], name: names[rows[4 * i + 3]].trim()})));

page.nestNodes = (nodes) => {
  const stack = [];
  for (const node of nodes) {
    node.children = [];
    stack.length = node.depth;
    node.parent = stack[node.depth - 1];
    if (node.parent) node.parent.children.push(node);
    stack[node.depth] = node;
  }
  // Its own time: without the calls in it, but with those that are too short for a row.
  for (const node of nodes)
    for (const time of ['host', 'device'])
      node[`${time}Self`] = Math.max(0, node.children.reduce((left, child) => left - child[time], node[time]));
  return nodes;
};

// The same times from the other end: which calls take them themselves, and below each who called it.
page.invertNodes = (nodes) => {
  const roots = {children: []};
  for (const leaf of nodes) {
    let at = roots;
    for (let node = leaf; node && leaf.hostSelf + leaf.deviceSelf > 0; node = node.parent) {
      let next = at.children.find((one) => one.name === node.name);
      if (!next) at.children.push(next = {name: node.name, host: 0, device: 0, hostSelf: 0, deviceSelf: 0, children: [], parent: at === roots ? undefined : at});
      next.host += leaf.hostSelf;
      next.device += leaf.deviceSelf;
      if (at === roots) [next.hostSelf, next.deviceSelf] = [next.host, next.device];
      at = next;
    }
  }
  return roots.children;
};

page.addFlame = (canvas) => {
  const part = canvas.closest('.side, section');
  const {side} = canvas.dataset;
  const all = page.treeNodes(part.querySelector('table.tree'));
  const single = page.json(side ? `${side}-calls` : 'calls');
  const select = part.querySelector('select');
  const status = part.querySelector('.status');
  const height = 19;
  let tops = [];
  const tools = part.querySelector('select').closest('.tools');
  const ranks = page.make('select');
  const addRank = (value, text) => { page.make('option', text, ranks).value = value; };
  addRank('', 'all ranks');
  for (const {rank, why} of single?.ranks || []) addRank(rank, `rank ${rank}${{named: ', of the verdict', median: ', the median'}[why] || ''}`);
  if (single) page.make('label', 'Of ', tools).append(ranks);
  const turn = page.make('button', 'Invert', tools);
  turn.type = 'button';
  turn.setAttribute('aria-pressed', 'false');
  const wanted = page.make('input', undefined, page.make('label', 'Find ', tools));
  wanted.type = 'search';
  let isInverted = false;
  let root = null;
  let boxes = [];
  let marked = 0;
  let command = '';  // of the rank that is shown
  let missing = '';  // the rank of the address, if the page does not have its calls
  const showRank = (rank) => {
    const found = single?.ranks.find((one) => `${one.rank}` === rank);
    const nodes = found ? page.rankNodes(found.rows, single.names) : all;
    ranks.value = found ? rank : '';
    missing = found || !/^\d+$/.test(rank) ? '' : rank;
    command = found ? found.command : '';
    tops = [nodes.filter((node) => node.depth === 0), page.invertNodes(nodes)];
    root = null;
  };

  const layout = (width) => {
    boxes = [];
    const size = (node) => node[select.value];
    const put = (list, x, room, level, whole) => {
      for (const node of [...list].sort((a, b) => size(b) - size(a))) {
        const wide = whole > 0 ? room * size(node) / whole : 0;
        if (wide < .5) continue;
        boxes.push({node, x, y: level * height, width: wide});
        put(node.children, x, wide, level + 1, size(node));
        x += wide;
      }
    };
    const roots = root ? [root] : tops[isInverted ? 1 : 0];
    put(roots, 0, width, 0, roots.reduce((sum, node) => sum + size(node), 0));
  };
  const draw = () => {
    if (canvas.parentElement.clientWidth === 0) return;
    layout(canvas.clientWidth || 800);
    const depth = boxes.reduce((most, box) => Math.max(most, box.y + height), height);
    const {context} = page.prepare(canvas, depth);
    const text = wanted.value.trim().toLowerCase();
    const isFound = (node) => text !== '' && node.name.toLowerCase().includes(text);
    boxes.forEach((box, i) => {
      // What was looked for keeps its colour.
      context.globalAlpha = text === '' || isFound(box.node) ? 1 : .25;
      let hash = 0;
      for (const c of box.node.name) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
      context.fillStyle = `hsl(${18 + hash % 34} ${62 + hash % 20}% ${64 + hash % 12}%)`;
      context.fillRect(box.x, box.y, Math.max(box.width - 1, .5), height - 1);
      if (i === marked && document.activeElement === canvas) {
        context.strokeStyle = page.colours.ink;
        context.lineWidth = 2;
        context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 3, 1), height - 3);
      }
      context.globalAlpha = 1;
      if (box.width < 26) return;
      context.fillStyle = '#1a1c1f';
      context.fillText(page.fitted(box.node.name, Math.floor((box.width - 8) / 6.4)), box.x + 4, box.y + height / 2, box.width - 7);
    });
    if (missing) status.textContent = `The page has no calls of rank ${missing} alone: trace-stats tree --rank ${missing} shows them. These are of all ranks.`;
    else if (boxes.length === 0) status.textContent = `No such time ${ranks.value ? 'on this rank' : 'in these traces'}.`;
    else if (text !== '') {
      // A call within one that is found, too, counts with that one.
      const outer = (node) => { for (let at = node.parent; at; at = at.parent) if (isFound(at)) return false; return true; };
      const found = boxes.filter((box) => isFound(box.node));
      const sum = found.filter((box) => outer(box.node)).reduce((all, box) => all + box.node[select.value], 0);
      status.textContent = `${found.length} calls of that name: ${page.duration(sum)}, ${shareOf(sum)}.`;
    } else if (document.activeElement !== canvas)
      status.textContent = `${root ? `Inside: ${root.name}. Escape shows all. ` : ''}${isInverted ? 'Below each call is who called it. ' : ''}${
        command && `As a table: ${command}`}`;
  };
  const whole = (time) => tops[0].reduce((sum, node) => sum + node[time], 0);
  const shareOf = (ns, time = select.value) => `${(100 * ns / Math.max(whole(time), 1)).toFixed(1)} %`;
  const words = (node) => `${node.name}\n${['host', 'device'].map((time) => `${time} ${page.duration(node[time])} (${shareOf(node[time], time)}), itself ${
    page.duration(node[`${time}Self`])} (${shareOf(node[`${time}Self`], time)})`).join('\n')}`;
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return boxes.findIndex((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + height);
  };
  const zoom = (node) => {
    root = node === root ? null : node;
    marked = 0;
    draw();
  };
  page.addTip(canvas, (event) => { const i = find(event); return i >= 0 && words(boxes[i].node); });
  canvas.addEventListener('click', (event) => { const i = find(event); if (i >= 0) zoom(boxes[i].node); });
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step) marked = Math.max(0, Math.min(boxes.length - 1, marked + step));
    else if (event.key === 'Enter' && boxes[marked]) return zoom(boxes[marked].node);
    else if (event.key === 'Escape') root = null;
    else return;
    event.preventDefault();
    draw();
    if (boxes[marked]) status.textContent = words(boxes[marked].node).replace('\n', ': ').replace('\n', '; ');
  });
  canvas.addEventListener('focus', draw);
  canvas.addEventListener('blur', draw);
  select.addEventListener('change', () => { root = null; draw(); });
  wanted.addEventListener('input', draw);
  turn.addEventListener('click', () => {
    isInverted = !isInverted;
    turn.setAttribute('aria-pressed', `${isInverted}`);
    root = null;
    draw();
  });
  ranks.addEventListener('change', () => {
    [page.place.rank, page.place.side] = [ranks.value || undefined, side];
    showRank(ranks.value);
    draw();
    page.writeAddress();
  });
  page.redraws.push(draw);
  showRank('');
  page.readers.push((values) => {
    if (page.place.section === 'code' && (values.side || side) === side) showRank(values.rank);
  });
};

