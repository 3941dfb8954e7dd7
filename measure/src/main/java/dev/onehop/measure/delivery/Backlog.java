package dev.onehop.measure.delivery;

import dev.onehop.resync.Progress;
import org.bson.BsonTimestamp;

/**
 * Rows that were written before they are read.
 *
 * @param run marks the rows
 * @param start cluster time before the first of them
 * @param count of the rows, each version counted
 * @param rows what was acknowledged
 */
record Backlog(int run, BsonTimestamp start, long count, RowVersions rows) {

  /** Writes it at full speed. */
  static Backlog write(RowCollection collection, int run, long rows, Progress progress)
      throws InterruptedException {
    BsonTimestamp start = collection.now();
    RowWriter writer = RowWriter.start(collection.rows(), run, HashRanges.all(), null, rows);
    try {
      while (!writer.hasEnded()) {
        Thread.sleep(100);
        progress.state(writer.acknowledged() + " of " + rows);
      }
      writer.stop();
    } finally {
      writer.abandon();
    }
    return new Backlog(run, start, writer.acknowledged(), writer.versions());
  }
}
