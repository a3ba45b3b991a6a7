// The kinds of problems, a row each: PROBLEM(name, severity, sentence). problems.h and problems.cpp
// include it, each with a PROBLEM of its own. The name is that of the enumerator and that in JSON
// reports, so it is stable; the sentence tells people what is wrong and what was done about it.

#ifndef PROBLEM
#define PROBLEM(...)
#endif

// problems of the container
PROBLEM(missing_bracket, info, "the closing ] is missing (legal: the writer was stopped)")
PROBLEM(cut_event, loss, "the file is cut inside an event; everything before it was kept")
PROBLEM(
    cut_object, loss,
    "the file is cut before its object ends; keys after the events (such as a base time) are lost")
PROBLEM(empty_trace, notice, "the trace holds no event")
PROBLEM(trailing_comma, notice, "comma before a closing bracket; ignored")
PROBLEM(extra_comma, notice, "comma without an event; ignored")
PROBLEM(missing_comma, notice, "no comma between two events; read as two events")
PROBLEM(second_document, notice,
        "a second JSON document follows the first; its events were read too")
PROBLEM(second_trace_events, notice,
        "the key traceEvents occurs twice; the events of both were read")
PROBLEM(trailing_garbage, loss, "text after the end of the trace; ignored")
PROBLEM(top_level_dropped, loss, "a top-level value could not be kept")
PROBLEM(subtrace_dropped, loss,
        "embedded trace (systemTraceEvents, ...) whose clock cannot be moved; dropped")
PROBLEM(bad_time_unit, notice, "displayTimeUnit that is neither ms nor ns; replaced")
PROBLEM(gzip_cut, loss, "the gzip data is cut off; what could be unpacked was kept")
PROBLEM(gzip_damaged, loss,
        "the gzip data is damaged; what comes before the damage was kept; copy the file again")
PROBLEM(gzip_checksum, loss,
        "the gzip checksum does not match; the text may be damaged; copy the file again")
PROBLEM(gzip_trailing_garbage, notice, "bytes after the end of the gzip data; ignored")
PROBLEM(zstd_cut, loss, "the zstd data is cut off; what could be unpacked was kept")
PROBLEM(zstd_damaged, loss,
        "the zstd data is damaged; what comes before the damage was kept; copy the file again")
PROBLEM(zstd_checksum, loss,
        "the zstd checksum does not match; the text may be damaged; copy the file again")
PROBLEM(zstd_trailing_garbage, notice, "bytes after the end of the zstd data; ignored")
PROBLEM(packed_twice, info, "compressed twice; unpacked twice")

// problems of elements of the event array
PROBLEM(not_an_object, loss, "element of the event list that is not an object; skipped")
PROBLEM(empty_object, info, "empty object in the event list; skipped")
PROBLEM(malformed_event, loss, "event that is not JSON; skipped")
PROBLEM(event_too_large, loss,
        "event larger than the limit (128 MiB, or a tenth of --max-memory); skipped")

// problems of fields of an event
PROBLEM(no_phase, loss, "event without a phase (ph); skipped")
PROBLEM(unknown_phase, info, "event with a phase that the format does not know; kept as it is")
PROBLEM(bad_timestamp, loss, "event without a usable ts; skipped")
PROBLEM(outlying_timestamp, loss,
        "event with a ts more than 6 days from those of most others, which no run pauses; skipped")
PROBLEM(bad_duration, notice, "dur that is not a number; 0 was used")
PROBLEM(missing_duration, notice,
        "complete event (X) without dur; drawn to the end of its thread, counted as 0")
PROBLEM(negative_duration, notice, "negative dur; 0 was used")
PROBLEM(never_ended, notice,
        "dur that ends beyond the range of time: the event never ended; drawn to the end of its "
        "file, and not counted as a span")
PROBLEM(
    broken_negative, notice,
    "negative time with its sign in the middle, as Kineto writes it (0.-66); read as it is meant")
PROBLEM(duplicate_key, notice, "key that occurs twice in an event; the last one was used")
PROBLEM(bad_args, notice,
        "args that are not JSON, or nest deeper than 512; kept as text under \"unparsed\"")
PROBLEM(bad_field, notice,
        "field that viewers refuse (no name, id2 without local or global, tts that is not a "
        "number, ...); fixed, or kept as source_...")
PROBLEM(bad_counter, loss, "counter value that is not a number; dropped")

// problems of strings and values
PROBLEM(invalid_utf8, notice, "bytes that are not UTF-8; replaced by U+FFFD")
PROBLEM(control_character, notice, "raw control character in a string; escaped")
PROBLEM(bad_escape, notice, "invalid escape in a string; repaired")
PROBLEM(not_json_value, notice,
        "value that JSON does not have (NaN, Infinity, ...); written as a string")

// problems of begin and end events
PROBLEM(end_without_begin, notice, "end event (E) without a begin event (B); dropped")
PROBLEM(begin_without_end, notice,
        "begin event (B) that is never closed; ended with the slice around it, and not counted as "
        "a span")
PROBLEM(out_of_order, notice, "begin or end event too far out of time order to be paired exactly")
PROBLEM(
    partial_overlap, info,
    "slice that overlaps the one before it on its thread, neither inside the other; left as it is")
PROBLEM(arrow_without_start, info,
        "end of an arrow (f) without a start; bound to the slice around it, as Perfetto would draw "
        "it from anywhere")
PROBLEM(dangling_arrow, info,
        "arrow (s, t, f of one id) of which one end is missing; kept, but viewers draw none")
PROBLEM(backward_arrow, notice,
        "arrow that ends before it starts (do the clocks of GPU and host, or of ranks, disagree?); "
        "kept as it is")
PROBLEM(unjudged_arrow, info,
        "end of an arrow (s, t, f) that was not compared: too many arrows were open before it, so "
        "the other counts of arrows are \"at least\"")
PROBLEM(displaced_arrow, notice,
        "end of an arrow (f without \"bp\": \"e\") after the slice of its time, so that viewers "
        "bind it to the next one (did a program sort the trace by time?); kept as it is")

// problems of devices
PROBLEM(overlong_work, notice,
        "work of a device that ends over 1 ms after the next work of its stream begins, which "
        "cannot be; kept as it is, and cut there for statistics of steps and devices")
PROBLEM(lost_work, loss,
        "launch of kernels whose device work is missing (the profiler lost it); its step, if "
        "marked, does not count")

// problems of ranks and clocks
PROBLEM(rank_from_position, notice,
        "the file does not say its rank; its position among the inputs was used, so a missing rank "
        "cannot be seen; RANK=path names it")
PROBLEM(same_rank_at_once, loss,
        "the file is of the same rank and the same time as another, so every other command refuses "
        "them; RANK=path says whose it is")
PROBLEM(
    several_runs, notice,
    "the inputs are of several runs, which count together; name the files or the folder of one run")
PROBLEM(
    merged_elsewhere, notice,
    "another tool's merge of several ranks, which count as one here; give the files of the ranks")
PROBLEM(rank_disagrees, notice,
        "sources disagree about the rank; the stronger one was used; RANK=path overrules it")
PROBLEM(ranks_in_one_pid, notice,
        "rank that a merge of merges put under the pid of another rank; its threads were separated "
        "by their global_rank")
PROBLEM(repeated, notice, "the input repeats events of other inputs; left out")
PROBLEM(sync_conflict, notice, "more than one clock sync; the first was used")
PROBLEM(bad_sync, notice, "clock sync that is not a usable number; treated as missing")
PROBLEM(bad_base, notice,
        "base time (baseTimeNanoseconds, beginningOfTime) that is not a usable number; treated as "
        "missing")
PROBLEM(
    bad_cycles, notice,
    "the notes of an earlier merge on its cycles are damaged; all cycles use the first clock sync")
PROBLEM(bad_rounds, notice, "impossible clock-sync rounds (was the clock changed?); ignored")
PROBLEM(no_clock, notice,
        "nothing shows how this clock relates to the others; not shifted; trace-merge --offset "
        "RANK=TIME shifts it")
PROBLEM(shifted_clock, notice,
        "the clock was shifted to fit the collectives; trace-merge --align base leaves it")
PROBLEM(clock_conflict, notice,
        "collectives contradict each other (was a clock changed?); the clock is left as it is")
PROBLEM(no_common_collective, notice,
        "no collective or message shows how far this clock is from the others of the run, only a "
        "base time or nothing; left as it is")
PROBLEM(vague_collectives, info,
        "collectives and messages do not show how far this clock is from the others; left as it is")
PROBLEM(ranks_apart, notice,
        "these ranks have no event while the lowest rank has some; is their clock right?")
PROBLEM(base_restored, notice,
        "relative times without a base in the file; the base was found again")
PROBLEM(base_guessed, notice,
        "relative times that fit no base; placed at the rank's clock sync, which is a guess")
PROBLEM(clock_step, notice,
        "the clock was set between this clock sync and the one before; the offset is not "
        "interpolated across that")
PROBLEM(far_sync, notice, "clock sync far from the others (from another run?)")
PROBLEM(wide_sync, info,
        "the clock sync is uncertain: the ranks may be more than a millisecond apart")
PROBLEM(world_size_disagrees, notice,
        "the world size differs from that of the files before (from another job?)")
PROBLEM(missing_rank, notice, "no input for this rank; add its file if it exists")
PROBLEM(inexact_timestamp, notice,
        "ts of 2^42 us (50.9 days) or more with decimals; viewers round it")
PROBLEM(far_timestamp, notice,
        "whole ts of 2^42 us (50.9 days) or more; exact, but viewers show no decimals that far "
        "from the origin")

// losses of the recorder
PROBLEM(events_lost, loss, "event that was recorded but could not be written; the file lacks it")
PROBLEM(events_dropped, loss,
        "event that found no room in the recorder's memory; the file lacks it (raise pool_bytes, "
        "or record less)")
PROBLEM(events_unnamed, loss, "event of a killed process whose name found no room in the journal")
PROBLEM(events_damaged, loss,
        "event of a killed process that was damaged in its journal and is lost; the others are "
        "here (does another program write to the journal's folder?)")
PROBLEM(journal_kept, loss,
        "journal of a killed process that could not be recovered; it is kept, and its events are "
        "missing")  // found by --recover; belongs to no input

#undef PROBLEM
