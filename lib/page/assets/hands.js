// What hands do with a timeline: wheel, mouse, fingers.
page.addHands = (timeline) => {
  const {canvas} = timeline;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };

  // A wheel that turns sideways pans as far as it turns; with Ctrl (a trackpad's pinch) or over the clicked timeline it
  // zooms; any other scrolls the page.
  canvas.addEventListener('wheel', (event) => {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const isZoom = !event.shiftKey && !isSideways && (event.ctrlKey || event.metaKey || document.activeElement === canvas);
    if (!isZoom && !isSideways && !event.shiftKey) return;
    event.preventDefault();
    if (isZoom) timeline.zoom(Math.exp(event.deltaY * unit / 300), at(event).x);
    else timeline.pan((isSideways ? event.deltaX : event.deltaY) * unit / (timeline.width() - timeline.left()));
  }, {passive: false});

  const pointers = new Map();
  let from = null;  // where a gesture began, and with which view
  const begin = () => { from = {points: [...pointers.values()].map((point) => ({...point})), view: timeline.view()}; };
  const drag = (shift) => {
    const points = [...pointers.values()];
    const room = timeline.width() - timeline.left();
    const length = from.view.end - from.view.start;
    const timeOf = (x) => from.view.start + (x - timeline.left()) / room * length;
    if (points.length > 1 && from.points.length > 1) {
      // The times that were under both fingers stay there.
      const before = Math.max(Math.abs(from.points[1].x - from.points[0].x), 8);
      const after = Math.max(Math.abs(points[1].x - points[0].x), 8);
      const middle = timeOf((from.points[0].x + from.points[1].x) / 2);
      const share = ((points[0].x + points[1].x) / 2 - timeline.left()) / room;
      const wanted = length * before / after;
      timeline.show(middle - share * wanted, middle + (1 - share) * wanted);
    } else if (shift) {
      timeline.select(timeOf(from.points[0].x), timeOf(points[0].x));
    } else {
      const move = (from.points[0].x - points[0].x) / room * length;
      timeline.show(from.view.start + move, from.view.end + move);
    }
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, {...at(event), hasMoved: false});
    begin();
  });
  canvas.addEventListener('pointermove', (event) => {
    const point = pointers.get(event.pointerId);
    if (!point) return;
    const place = at(event);
    if (Math.hypot(place.x - point.x, place.y - point.y) < 3 && !point.hasMoved) return;
    pointers.set(event.pointerId, {...place, hasMoved: true});
    drag(event.shiftKey);
  });
  const end = (event) => {
    const point = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    if (pointers.size > 0) return begin();
    from = null;
    if (!point || event.type !== 'pointerup') return;
    if (point.hasMoved) {
      if (event.shiftKey && timeline.selection()) timeline.showSums();
      return;
    }
    if (timeline.selection()) timeline.select(null);
    timeline.pick(timeline.findSlice(point.x, point.y));
  };
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, end);
  page.addTip(canvas, (event) => {
    const place = at(event);
    const found = pointers.size === 0 && timeline.findSlice(place.x, place.y);
    return found && timeline.words(found);
  });
  // A double click fits the span, with some room beside it.
  canvas.addEventListener('dblclick', (event) => {
    const place = at(event);
    const found = timeline.findSlice(place.x, place.y);
    if (found && found.name !== null) timeline.show(found.start - found.length * .1, found.start + found.length * 1.1);
  });
};

