# Events of a merged trace, one a line -> an SVG with a row for each rank. scripts/picture.sh runs it.
#
# Waiting is what a rank spends in the all-reduce before the last rank has come to it.

/"ph":"X"/ {
  name = text("name")
  rank = number("pid")
  batch = number("batch")
  begin = number("ts")
  end = begin + number("dur")
  if (batch < first || batch > last) next
  if (rank > ranks) ranks = rank
  if (name == "event/forward" || name == "event/backward") add(rank, begin, end, "compute")
  if (name == "read" || name == "event/dataloader") add(rank, begin, end, "load")
  if (name == "shm:all_reduce") {
    if (begin > came[batch]) came[batch] = begin
    reduce_begin[rank, batch] = begin
    reduce_end[rank, batch] = end
  }
  if (from == "" || begin < from) from = begin
  if (end > to) to = end
}

END {
  for (batch = first; batch <= last; batch++)
    for (rank = 0; rank <= ranks; rank++) {
      add(rank, reduce_begin[rank, batch], came[batch], "wait")
      add(rank, came[batch], reduce_end[rank, batch], "reduce")
    }
  left = 84; top = 92; row = 40; width = 832
  bottom = top + row * (ranks + 1)
  open_picture(bottom + 124)
  for (rank = 0; rank <= ranks; rank++) draw_row(rank)
  draw_axis()
  draw_legend(bottom + 50)
  terminal(bottom + 74, "$ trace-stats bottleneck merged.json", verdict)
  print "</svg>"
}

function text(key) {
  if (!match($0, "\"" key "\":\"[^\"]*\"")) return ""
  return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 5)
}

function number(key) {
  if (!match($0, "\"" key "\":[0-9.]+")) return -1
  return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
}

function add(rank, begin, end, kind) {
  if (end <= begin) return
  bars++
  bar_rank[bars] = rank; bar_begin[bars] = begin; bar_end[bars] = end; bar_kind[bars] = kind
}

function x_of(time) { return left + (time - from) / (to - from) * width }

function open_picture(height) {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 940 %d\" width=\"940\" height=\"%d\"", height, height
  print " role=\"img\" aria-label=\"Four merged ranks; three wait for rank " straggler "\">"
  print "<style>"
  print "  text { font: 13px sans-serif; fill: #24292f }"
  print "  .term { font: 13px monospace; fill: #e6edf3; white-space: pre } .dim { fill: #8b949e } .key { fill: #ffa657 }"
  print "  .compute { fill: #3b78c2 } .wait { fill: #d8dde3 } .reduce { fill: #2c9f6b } .load { fill: #e3a23b }"
  print "  .mark { fill: none; stroke: #d1242f; stroke-width: 2 } .red { fill: #d1242f; font-weight: bold }"
  print "</style>"
  printf "<rect width=\"940\" height=\"%d\" rx=\"8\" fill=\"#ffffff\"/>\n", height
  terminal(12, "$ trace-merge rank*.json -o merged.json", summary)
}

function terminal(y, command, answer) {
  printf "<rect x=\"12\" y=\"%d\" width=\"916\" height=\"42\" rx=\"6\" fill=\"#161b22\"/>\n", y
  printf "<text class=\"term dim\" x=\"24\" y=\"%d\">%s</text>\n", y + 17, escaped(command)
  printf "<text class=\"term\" x=\"24\" y=\"%d\">%s</text>\n", y + 34, escaped(answer)
}

function escaped(words) {
  gsub(/&/, "\\&amp;", words)
  gsub(/</, "\\&lt;", words)
  return words
}

function draw_row(rank,    i, y, is_straggler) {
  y = top + rank * row
  is_straggler = rank == straggler
  printf "<text x=\"24\" y=\"%d\"%s>rank %d</text>\n", y + 17, is_straggler ? " class=\"red\"" : "", rank
  for (i = 1; i <= bars; i++)
    if (bar_rank[i] == rank)
      printf "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"24\"/>\n", bar_kind[i], x_of(bar_begin[i]), y,
             x_of(bar_end[i]) - x_of(bar_begin[i])
  if (is_straggler)
    printf "<rect class=\"mark\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"32\" rx=\"4\"/>\n", left - 4, y - 4, width + 8
}

function draw_axis(    ms, step) {
  step = 20
  for (ms = 0; ms * 1000 <= to - from; ms += step) {
    printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#afb8c1\"/>\n", x_of(from + ms * 1000), bottom - 4,
           x_of(from + ms * 1000), bottom + 2
    printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d%s</text>\n", x_of(from + ms * 1000), bottom + 17, ms,
           ms == 0 ? " ms" : ""
  }
}

function draw_legend(y,    x) {
  x = legend(left, y, "compute", "computing", 74)
  x = legend(x, y, "wait", "waiting for rank " straggler, 122)
  x = legend(x, y, "reduce", "all-reduce", 74)
  x = legend(x, y, "load", "loading data", 88)
  printf "<text class=\"red\" x=\"916\" y=\"%d\" text-anchor=\"end\">the others wait %.1f ms a step for rank %d</text>\n", y,
         wait_ns / 1e6, straggler
}

function legend(x, y, kind, words, width) {
  printf "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>\n", kind, x, y - 10
  printf "<text x=\"%d\" y=\"%d\">%s</text>\n", x + 17, y, words
  return x + width + 34
}
