#include "analysis/collectives/messages.h"

#include "analysis/work/work_names.h"
#include "base/arithmetic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

std::int64_t length_of(const Collective& end) {
  return end.parts.front().end_ns - end.parts.front().start_ns;
}

Message message_of(const MessageEnds& ends, const Collective& sent, const Collective& received) {
  Message message{sent.group, ends.from, ends.to, sent.parts.front(), received.parts.front()};
  message.bytes = std::max(sent.bytes, received.bytes);
  message.transfer_ns = std::min(length_of(sent), length_of(received));
  message.after_label = sent.after_label;
  message.sent_launch = sent.launch;
  message.received_launch = received.launch;
  return message;
}

// A piece of a group with batches, and its one or two messages.
struct BatchEnd {
  Collective what;
  std::optional<MessageEnds> sends = {};
  std::optional<MessageEnds> receives = {};
  std::int64_t transfer_ns = 0;
  std::size_t matched = 0;  // of its messages

  std::size_t messages() const { return (sends ? 1U : 0U) + (receives ? 1U : 0U); }
};

// The labels of kernels after which ranks send to the next and to the previous rank of a group.
struct KernelsBefore {
  std::set<std::uint32_t> next;
  std::set<std::uint32_t> previous;
};

// The pieces of one group with batches.
class BatchedGroup {
 public:
  BatchedGroup(const Run& run, std::vector<std::int64_t> ranks)
      : run_(run), ranks_(std::move(ranks)) {}

  void add(const MessageEnds& ends, Collective what) {
    if (is_send(what.name))
      ends_.push_back({std::move(what), ends, std::nullopt});
    else
      ends_.push_back({std::move(what), std::nullopt, ends});
  }
  void add_batch(Collective what) { ends_.push_back({std::move(what)}); }

  // Appends its messages and pieces.
  void finish(MatchedCollectives& found) {
    std::ranges::stable_sort(ends_, {}, [](const BatchEnd& end) {
      return std::pair(end.what.parts.front().rank, end.what.parts.front().start_ns);
    });
    if (find_peers()) match_links(found.messages);
    for (BatchEnd& end : ends_) {
      if (end.matched > 0 && end.matched == end.messages()) end.what.transfer_ns = end.transfer_ns;
      found.single.push_back(std::move(end.what));
    }
  }

 private:
  std::int64_t place_of(std::int64_t rank) const {
    const auto found = std::ranges::find(ranks_, rank);
    return found == ranks_.end() ? kNoId : found - ranks_.begin();
  }
  std::int64_t rank_of(const BatchEnd& end) const {
    return run_.ranks[end.what.parts.front().rank].rank;
  }
  std::int64_t last_place() const { return static_cast<std::int64_t>(ranks_.size()) - 1; }

  // Returns how far away the other rank of a batch is: 1, -1, or 0 if that is not known.
  std::int64_t step_of(const BatchEnd& end, const KernelsBefore& before) const {
    const std::int64_t place = place_of(rank_of(end));
    if (place == kNoId || ranks_.size() < 2) return 0;
    if (place == 0) return 1;
    if (place == last_place()) return -1;
    const bool next = before.next.contains(end.what.after_label);
    const bool previous = before.previous.contains(end.what.after_label);
    return next == previous ? 0 : next ? 1 : -1;
  }

  KernelsBefore find_kernels() const {
    KernelsBefore before;
    for (const BatchEnd& end : ends_) {
      if (end.receives || end.what.after_label == kNoLabel) continue;
      const std::int64_t step =
          end.sends ? place_of(end.sends->to) - place_of(end.sends->from) : step_of(end, {});
      if (step == 1) before.next.insert(end.what.after_label);
      if (step == -1) before.previous.insert(end.what.after_label);
    }
    return before;
  }

  // Returns false if the peer of any batch is not known.
  bool find_peers() {
    const KernelsBefore before = find_kernels();
    for (BatchEnd& end : ends_) {
      if (end.messages() > 0) continue;
      const std::int64_t step = step_of(end, before);
      if (step == 0) return false;
      const std::int64_t own = rank_of(end);
      const std::int64_t peer = ranks_[static_cast<std::size_t>(place_of(own) + step)];
      end.sends = {own, peer};
      end.receives = {peer, own};
    }
    return true;
  }

  void match_links(std::vector<Message>& messages) {
    std::map<MessageEnds, std::pair<std::vector<BatchEnd*>, std::vector<BatchEnd*>>> links;
    for (BatchEnd& end : ends_) {
      if (end.sends) links[*end.sends].first.push_back(&end);
      if (end.receives) links[*end.receives].second.push_back(&end);
    }
    for (const auto& [ends, link] : links) {
      const auto& [sent, received] = link;
      if (sent.size() != received.size()) continue;
      std::map<std::int64_t, std::int64_t> least;  // by bytes
      std::vector<Message> own;
      for (std::size_t i = 0; i < sent.size(); ++i) {
        Message& message = own.emplace_back(message_of(ends, sent[i]->what, received[i]->what));
        message.is_inferred = true;
        const auto [known, is_new] = least.try_emplace(message.bytes, message.transfer_ns);
        if (!is_new) known->second = std::min(known->second, message.transfer_ns);
      }
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i].transfer_ns = least[own[i].bytes];
        for (BatchEnd* const end : {sent[i], received[i]}) {
          ++end->matched;
          end->transfer_ns = std::max(end->transfer_ns, own[i].transfer_ns);
        }
        messages.push_back(own[i]);
      }
    }
  }

  const Run& run_;
  std::vector<std::int64_t> ranks_;  // in the order of the event
  std::vector<BatchEnd> ends_;
};

// True if ranks that send leave before others come to receive, as long as clocks can show it.
bool are_eager(const Run& run, const std::vector<Message>& messages) {
  constexpr std::size_t kLeastShare = 20;  // one of so many
  if (!run.common_clock || run.file_with_set_clock() != nullptr) return false;
  const auto apart = std::ranges::count_if(messages, [](const Message& message) {
    return message.sent.end_ns <= message.received.start_ns;
  });
  return apart > 0 && static_cast<std::size_t>(apart) * kLeastShare >= messages.size();
}

// Adds the ends of messages that name each other, with the time in which data moved.
void append_matched(const Run& run, MatchedEnds& matched, MatchedCollectives& found) {
  std::vector<Message> messages;
  for (auto& [ends, pieces] : matched) {
    if (pieces.size() != 2) continue;
    if (!is_send(pieces[0].name)) std::swap(pieces[0], pieces[1]);
    messages.push_back(message_of(ends, pieces[0], pieces[1]));
  }
  const bool eager = are_eager(run, messages);
  std::size_t next = 0;
  for (auto& [ends, pieces] : matched) {
    if (pieces.size() == 2) {
      Message& message = messages[next++];
      message.is_eager = eager;
      pieces[0].is_eager = pieces[1].is_eager = eager;
      found.eager += eager ? 2 : 0;
      pieces[0].transfer_ns = eager ? length_of(pieces[0]) : message.transfer_ns;
      if (eager) {
        const CollectivePart& part = message.received;
        const std::int64_t begun_ns = std::max(part.start_ns, message.sent.start_ns);
        message.transfer_ns =
            std::clamp<std::int64_t>(part.end_ns - begun_ns, 0, length_of(pieces[1]));
      }
      pieces[1].transfer_ns = message.transfer_ns;
      found.messages.push_back(message);
    }
    for (Collective& piece : pieces) found.single.push_back(std::move(piece));
  }
}

// Finds the ways of messages between the two stages of a pipeline, by the kernels before the sends.
class TwoStageWays {
 public:
  explicit TwoStageWays(const Run& run) : run_(run) {}

  void add(Message& message, bool from_first) {
    (from_first ? from_first_ : from_second_).push_back(&message);
  }

  void find() {
    const std::set<std::uint32_t> forward = find_forward();
    const auto count = [&](const std::vector<Message*>& sends) {
      return std::ranges::count_if(
          sends, [&](const Message* send) { return forward.contains(send->after_label); });
    };
    // A part of the model sends as many messages forward as come back to it.
    const auto backward = [&](const std::vector<Message*>& sends) {
      return static_cast<std::ptrdiff_t>(sends.size()) - count(sends);
    };
    if (forward.empty() || count(from_first_) != backward(from_second_) ||
        count(from_second_) != backward(from_first_))
      return;
    for (const std::vector<Message*>* const sends : {&from_first_, &from_second_})
      for (Message* const send : *sends)
        send->way =
            forward.contains(send->after_label) ? MessageWay::forward : MessageWay::backward;
  }

 private:
  // Returns the labels before the first send of the first stage in each step.
  std::set<std::uint32_t> find_forward() const {
    std::set<std::uint32_t> labels;
    if (from_first_.empty()) return labels;
    const StepsByTime steps(run_.ranks[from_first_.front()->sent.rank].steps);
    std::map<StepKey, const Message*> first;
    for (const Message* const send : from_first_)
      if (const Step* const step = steps.begun_at(send->sent.start_ns)) {
        const Message*& known = first[key_of(*step)];
        if (known == nullptr || send->sent.start_ns < known->sent.start_ns) known = send;
      }
    for (const auto& [step, send] : first) labels.insert(send->after_label);
    labels.erase(kNoLabel);
    return labels;
  }

  const Run& run_;
  std::vector<Message*> from_first_;
  std::vector<Message*> from_second_;
};

// Neighbours in a group are stages of a pipeline, of which the last one may send to the first.
void find_ways(const Run& run, std::vector<Message>& messages) {
  std::map<ProcessGroup, std::vector<std::int64_t>> ranks_of;
  std::map<ProcessGroup, TwoStageWays> two;
  for (Message& message : messages) {
    const auto [known, is_new] = ranks_of.try_emplace(message.group);
    if (is_new) known->second = ranks_in(message.group.ranks);
    const std::vector<std::int64_t>& ranks = known->second;
    const auto from = std::ranges::find(ranks, message.from);
    const auto to = std::ranges::find(ranks, message.to);
    if (from == ranks.end() || to == ranks.end()) continue;
    if (ranks.size() == 2) {
      two.try_emplace(message.group, run).first->second.add(message, from < to);
      continue;
    }
    const auto count = static_cast<std::ptrdiff_t>(ranks.size());
    const std::ptrdiff_t steps = (to - from + count) % count;
    if (steps == 1) message.way = MessageWay::forward;
    if (steps == count - 1) message.way = MessageWay::backward;
  }
  for (auto& [group, ways] : two) ways.find();
}

}  // namespace

bool is_batch(const Collective& what) {
  return is_point_to_point(what.name) && !is_send(what.name) && !is_receive(what.name) &&
         !what.group.ranks.empty();
}

void append_messages(const Run& run, MatchedEnds matched, std::vector<Collective> batches,
                     MatchedCollectives& found) {
  std::map<ProcessGroup, BatchedGroup> batched;
  const auto group_of = [&](const Collective& what) -> BatchedGroup& {
    return batched.try_emplace(what.group, run, ranks_in(what.group.ranks)).first->second;
  };
  for (Collective& batch : batches) {
    BatchedGroup& group = group_of(batch);
    group.add_batch(std::move(batch));
  }
  std::erase_if(matched, [&](auto& message) {
    auto& [ends, pieces] = message;
    if (!batched.contains(pieces.front().group)) return false;
    for (Collective& piece : pieces) {
      BatchedGroup& group = group_of(piece);
      group.add(ends, std::move(piece));
    }
    return true;
  });
  append_matched(run, matched, found);
  for (auto& [group, pieces] : batched) pieces.finish(found);
  std::ranges::stable_sort(found.messages, {},
                           [](const Message& one) { return one.sent.start_ns; });
  find_ways(run, found.messages);
}

}  // namespace traceloom
