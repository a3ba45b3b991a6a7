#include "identity/ranks/rank_source.h"

namespace traceloom {

std::string_view to_string(RankSource source) {
  switch (source) {
    case RankSource::argument:
      return "RANK= argument";
    case RankSource::metadata_event:
      return "global_rank event";
    case RankSource::distributed_info:
      return "distributedInfo.rank";
    case RankSource::top_level_key:
      return "global_rank key";
    case RankSource::file_name:
      return "file name";
    case RankSource::position:
      return "position";
    case RankSource::merged:
      return "merged file";
  }
  return {};
}

}  // namespace traceloom
