package dev.onehop.cli;

import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import org.jspecify.annotations.Nullable;

/** The metrics of a copy, in Prometheus' text format. Unknown values are left out. */
final class CopyMetrics {
  private final StringBuilder text = new StringBuilder();
  private final String job;

  private CopyMetrics(String job) {
    this.job = job.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  static String of(CopyProgress now) {
    CopyMetrics all = new CopyMetrics(now.job());
    all.head("phase", "1 for the current phase, 0 for the other phases");
    for (CopyPhase phase : CopyPhase.values()) {
      all.value("phase", phase, phase == now.phase() ? 1 : 0);
    }
    all.head("phase_seconds", "seconds that each phase has taken");
    now.times()
        .forEach((phase, time) -> all.value("phase_seconds", phase, CopyReport.seconds(time)));
    all.gauge("paused", "1 while the copy is paused", now.paused() ? 1 : 0);
    all.gauge("documents", "documents to copy, estimated", now.documents());
    all.gauge("documents_copied", "documents that were copied", now.documentsDone());
    all.gauge("bytes_copied", "bytes of BSON that were copied", now.bytesDone());
    all.gauge("ranges", "ranges to copy", now.ranges());
    all.gauge("ranges_copied", "ranges that were copied", now.rangesDone());
    all.gauge("events_applied", "change events that were applied", now.eventsApplied());
    all.gauge(
        "lag_seconds",
        "seconds by which the destination is behind the source",
        CopyReport.seconds(now.lag()));
    Long operations = now.lagOperations();
    all.gauge(
        "lag_operations",
        "operations of the source that are not applied yet",
        operations == null ? null : operations.doubleValue());
    all.gauge(
        "oplog_left_seconds",
        "seconds until the source's oplogs drop an unapplied change",
        CopyReport.seconds(now.oplogLeft()));
    all.gauge(
        "left_seconds",
        "estimated seconds until the phase ends or the copy has caught up",
        CopyReport.seconds(now.left()));
    all.gauge(
        "consistent",
        "1 if the destination equals the source as it was at one cluster time",
        now.consistentFrom() == null ? 0 : 1);
    return all.text.toString();
  }

  private void head(String name, String help) {
    text.append("# HELP onehop_copy_%s %s\n# TYPE onehop_copy_%1$s gauge\n".formatted(name, help));
  }

  private void value(String name, CopyPhase phase, @Nullable Number value) {
    text.append(
        "onehop_copy_%s{job=\"%s\",phase=\"%s\"} %s\n"
            .formatted(name, job, CopyReport.name(phase), value));
  }

  private void gauge(String name, String help, @Nullable Number value) {
    if (value != null) {
      head(name, help);
      text.append("onehop_copy_%s{job=\"%s\"} %s\n".formatted(name, job, value));
    }
  }
}
