// ---- flame graph: the rows of the table of the tree -------------------------------------------------------------------
page.treeNodes = (table) => {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.k);
  const nodes = [];
  const stack = [];
  for (const row of table.tBodies[0].rows) {
    const value = (key) => keys.includes(key) ? page.cellValue(row, keys.indexOf(key)) || 0 : 0;
    const node = {row, depth: Number(row.dataset.d), name: row.cells[keys.indexOf('name')].textContent.trim(),
      host: value('host_total_ns'), device: value('device_total_ns'), children: []};
    stack.length = node.depth;
    const parent = stack[node.depth - 1];
    if (parent) parent.children.push(node);
    stack[node.depth] = node;
    nodes.push(node);
  }
  return nodes;
};

page.addFlame = (canvas) => {
  const part = canvas.closest('.side, section');
  const nodes = page.treeNodes(part.querySelector('table.tree'));
  const select = part.querySelector('select');
  const status = part.querySelector('.status');
  const height = 19;
  let root = null;
  let boxes = [];
  let marked = 0;

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
    const roots = root ? [root] : nodes.filter((node) => node.depth === 0);
    put(roots, 0, width, 0, roots.reduce((sum, node) => sum + size(node), 0));
  };
  const draw = () => {
    if (canvas.parentElement.clientWidth === 0) return;
    layout(canvas.clientWidth || 800);
    const depth = boxes.reduce((most, box) => Math.max(most, box.y + height), height);
    const {context} = page.prepare(canvas, depth);
    boxes.forEach((box, i) => {
      let hash = 0;
      for (const c of box.node.name) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
      context.fillStyle = `hsl(${18 + hash % 34} ${62 + hash % 20}% ${64 + hash % 12}%)`;
      context.fillRect(box.x, box.y, Math.max(box.width - 1, .5), height - 1);
      if (i === marked && document.activeElement === canvas) {
        context.strokeStyle = page.colours.ink;
        context.lineWidth = 2;
        context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 3, 1), height - 3);
      }
      if (box.width < 26) return;
      context.fillStyle = '#1a1c1f';
      context.fillText(page.fitted(box.node.name, Math.floor((box.width - 8) / 6.4)), box.x + 4, box.y + height / 2);
    });
    if (boxes.length === 0) status.textContent = 'No such time in these traces.';
    else if (document.activeElement !== canvas) status.textContent = root ? `Inside: ${root.name}. Escape shows all.` : '';
  };
  const words = (node) => `${node.name}\nhost ${page.duration(node.host)}, device ${page.duration(node.device)}`;
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
    if (boxes[marked]) status.textContent = words(boxes[marked].node).replace('\n', ': ');
  });
  canvas.addEventListener('focus', draw);
  canvas.addEventListener('blur', draw);
  select.addEventListener('change', () => { root = null; draw(); });
  page.redraws.push(draw);
};

