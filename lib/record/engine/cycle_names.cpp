#include "record/engine/cycle_names.h"

#include "record/files/trace_file.h"

namespace traceloom::record {

bool CycleNames::is_at_last_end(const Position& position) const {
  return last_end_ && last_end_->epoch == position.epoch && last_end_->batch == position.batch &&
         last_end_->batch_in_epoch == position.batch_in_epoch;
}

std::string CycleNames::path_at(const Position& position) {
  std::string name = "ep" + std::to_string(position.epoch) + "-ba" +
                     std::to_string(position.batch) + "-rank" + std::to_string(options_.rank) +
                     ".json";
  try {
    if (options_.file_name) name = options_.file_name(position);
  } catch (...) {
    status_.set_error(current_problem() + "; the file is called " + name);
  }
  return options_.folder + "/" + name;
}

std::string CycleNames::final_path_at(const Position& position, bool is_rest) {
  std::string path = path_at(position);
  if (!options_.overwrite || !(is_rest || is_at_last_end(position))) return path;
  std::string name = path;
  for (unsigned number = 2; own_paths_.count(name) > 0; ++number)
    name = numbered_path(path, number);
  return name;
}

void CycleNames::add_own(const std::string& path) {
  if (options_.overwrite) own_paths_.insert(path);
}

}  // namespace traceloom::record
