// `trace-stats @COMMAND@`: WRITE: shows what.
Report @NAME@_report(const Run& run);
