#include <cstdio>
#include <exception>
#include <string>
#include <traceloom/node_merge/node_merger.h>
#include <traceloom/recorder.h>

using namespace traceloom;
using namespace traceloom::record;

// A node of one rank: train_merged FOLDER writes FOLDER/ranks and FOLDER/merged/node0.json.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const std::string folder = argv[1];
    Options options;
    options.folder = folder + "/ranks";
    options.overwrite = true;
    options.rank = options.local_rank = options.node_rank = 0;
    options.local_world_size = 1;
    NodeMerge merged;
    NodeMergeOptions merge;
    merge.folder = folder + "/merged";
    merge.file_name = "node{node_rank}.json";
    merge.on_merged = [&](const NodeMerge& cycle) { merged = cycle; };
    NodeMerger merger(merge, options);
    Session session(options);
    for (int i = 0; i < 3; ++i) {
      TRACELOOM_SCOPE("work", "test");
    }
    session.close();
    merger.close();
    if (merged.path != merge.folder + "/node0.json" || !merged.problem.empty()) {
      std::fprintf(stderr, "%s: %s\n", merged.path.c_str(), merged.problem.c_str());
      return 3;
    }
    return merged.events == 3 && merged.ranks == 1 ? 0 : 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
