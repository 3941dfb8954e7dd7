package dev.onehop.measure.delivery;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertManyOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.bson.RawBsonDocument;

/**
 * Rows that are written last, one on each shard. In a stream that keeps the order of each shard,
 * all earlier writes have arrived when these rows have arrived. Immutable.
 *
 * @param run the number that marks the rows
 * @param bytes the size of a row in bytes
 * @param shards the hashes of each shard
 * @param patience the time after which missing signals count as lost
 */
record Signals(int run, int bytes, List<HashRanges> shards, Duration patience) {

  /** Whether the time has passed after which missing signals count as lost. */
  boolean areLate(long sinceMicros) {
    return SteadyClock.micros() - sinceMicros > patience.toMillis() * 1_000;
  }

  /**
   * Returns the numbers of a set of signals, one for each shard.
   *
   * @param set the number of the set, from 0
   */
  List<Long> numbers(int set) {
    return IntStream.range(set * shards.size(), (set + 1) * shards.size())
        .mapToObj(Row::signal)
        .toList();
  }

  /**
   * Writes all signals of a set in one write.
   *
   * @param group the group of the rows
   * @param set the number of the set, from 0
   * @param dueMicros the time when the write was due
   * @param listener called before the write begins, with the last document of the write and the row
   *     of this document
   */
  void write(
      MongoCollection<RawBsonDocument> collection,
      int group,
      int set,
      long dueMicros,
      BiConsumer<RawBsonDocument, Row> listener) {
    long began = SteadyClock.micros();
    List<RawBsonDocument> documents = new ArrayList<>();
    for (long number : numbers(set)) {
      Row row = new Row(run, group, number, 1, dueMicros, began);
      HashRanges hashes = shards.get(documents.size());
      documents.add(row.document(hashes, bytes));
      if (documents.size() == shards.size()) {
        listener.accept(documents.get(documents.size() - 1), row);
      }
    }
    // The write is unordered, because an ordered write goes to one shard after the other.
    var unused = collection.insertMany(documents, new InsertManyOptions().ordered(false));
  }
}
