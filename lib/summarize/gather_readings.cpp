#include "summarize/gather_readings.h"

#include "team/wire.h"

#include <cstddef>
#include <string>

namespace traceloom {

void gather_readings(Team& team, const FileBlock& own, std::vector<FileReading>& files) {
  if (team.is_alone()) return;
  WireWriter writer;
  writer(own);
  for (std::size_t i = own.begin; i < own.end; ++i) writer(files[i]);
  team.gather(writer.take(), [&](std::size_t, const std::string& bytes) {
    WireReader reader(bytes);
    FileBlock block;
    reader(block);
    for (std::size_t i = block.begin; i < block.end; ++i) reader(files[i]);
  });
}

}  // namespace traceloom
