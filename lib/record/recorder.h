// The embedded recorder: markers, counters and a session that writes what they record as one Chrome
// JSON trace per rank and profiling cycle. This header is all a program includes; it needs the
// standard library only (C++17).
//
//   using namespace traceloom::record;
//   Options options;
//   options.rank = rank;
//   options.schedule = [](const Position& at) {
//     return at.batch < 5 ? Action::active : Action::skip;
//   };
//   Session session(options);
//   static const Marker forward("forward", "model"), loading("event/dataloader");
//   for (auto& batch : timed(loader, loading)) {
//     session.batch_begin(position);
//     { Scope scope(forward); loss = model(batch); }
//     position.batch++;
//     session.batch_end(position);
//   }
//
// Parts: position.h (what is recorded when), marker.h, timed_range.h and session.h can be read
// alone. slots.h is what their inline functions need.
//
// Costs: a recorded Scope is two reads of the clock and a store of 32 bytes (no lock, allocation or
// system call); a Scope that is not recorded is four loads. With TRACELOOM_DISABLE defined before
// this header, markers, scopes and counters are empty.
//
// Errors: only the constructor of Session throws because of what happens to a trace. Otherwise
// training goes on, and Session::status() says what went wrong.
//
// Threads: everything here may be used by any thread unless it says otherwise. A signal's handler
// may record, too, but what it records while its thread is recording may be lost without being
// counted.
#pragma once

#include "record/marker.h"
#include "record/position.h"
#include "record/session.h"
#include "record/timed_range.h"

// ---- Macros: a scope in one line, nothing at all with TRACELOOM_DISABLE -------------------------

#define TRACELOOM_JOIN_(a, b) a##b
#define TRACELOOM_JOIN(a, b) TRACELOOM_JOIN_(a, b)
#ifndef TRACELOOM_DISABLE
// TRACELOOM_SCOPE("forward"); TRACELOOM_SCOPE("h2d", "copy"); literals only.
#define TRACELOOM_SCOPE(...)                                                                     \
  static constexpr const char* TRACELOOM_JOIN(traceloom_texts_, __LINE__)[] = {__VA_ARGS__, ""}; \
  static const ::traceloom::record::Marker TRACELOOM_JOIN(traceloom_marker_, __LINE__)(          \
      TRACELOOM_JOIN(traceloom_texts_, __LINE__)[0],                                             \
      TRACELOOM_JOIN(traceloom_texts_, __LINE__)[1]);                                            \
  const ::traceloom::record::Scope TRACELOOM_JOIN(                                               \
      traceloom_scope_, __LINE__)(TRACELOOM_JOIN(traceloom_marker_, __LINE__))
#define TRACELOOM_INSTANT(...)                                                     \
  do {                                                                             \
    static constexpr const char* traceloom_texts[] = {__VA_ARGS__, ""};            \
    static const ::traceloom::record::Marker traceloom_moment(traceloom_texts[0],  \
                                                              traceloom_texts[1]); \
    traceloom_moment.instant();                                                    \
  } while (false)
#else
#define TRACELOOM_SCOPE(...) static_assert(true, "")
#define TRACELOOM_INSTANT(...) static_cast<void>(0)
#endif
