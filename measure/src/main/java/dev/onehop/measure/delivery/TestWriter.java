package dev.onehop.measure.delivery;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.List;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Writes the objects of a test, and then its signals: one on each shard, in one write. A write
 * begins when the one before was acknowledged by a majority, or at a rate.
 */
final class TestWriter {

  /** Called before each write begins. */
  @FunctionalInterface
  interface Listener {
    /**
     * A write begins.
     *
     * @param last what is written last in it
     */
    void begins(RawBsonDocument last, Item item);
  }

  private final MongoCollection<RawBsonDocument> collection;
  private final int run;
  private final List<HashRanges> shards;
  private final PropagatePlan.Point size;
  private final @Nullable Double rate;
  private final Listener listener;

  /**
   * @param shards the hashes of each shard
   * @param rate writes per second; null for one after the other
   */
  TestWriter(
      MongoCollection<RawBsonDocument> collection,
      int run,
      List<HashRanges> shards,
      PropagatePlan.Point size,
      @Nullable Double rate,
      Listener listener) {
    this.collection = collection;
    this.run = run;
    this.shards = shards;
    this.size = size;
    this.rate = rate;
    this.listener = listener;
  }

  /**
   * Writes a test.
   *
   * @return when it began, by {@link SteadyClock}
   */
  long write(int test) throws InterruptedException {
    long begin = SteadyClock.micros();
    int writes = 0;
    for (int from = 0; from < size.documents(); from += size.batch()) {
      int to = Math.min(size.documents(), from + size.batch());
      List<Long> numbers = new ArrayList<>();
      for (long number = from; number < to; number++) {
        numbers.add(number);
      }
      write(test, numbers, begin, writes++);
    }
    List<Long> signals = new ArrayList<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      signals.add(Item.signal(shard));
    }
    write(test, signals, begin, writes);
    return begin;
  }

  private void write(int test, List<Long> numbers, long begin, int index)
      throws InterruptedException {
    long due = SteadyClock.micros();
    if (rate != null) {
      due = begin + Math.round(index * 1e6 / rate);
      SteadyClock.sleepUntil(due);
    }
    long began = rate == null ? due : SteadyClock.micros();
    List<RawBsonDocument> documents = new ArrayList<>();
    Item item = new Item(run, test, 0, 1, due, began);
    for (long number : numbers) {
      item = new Item(run, test, number, 1, due, began);
      documents.add(item.document(hash(item), size.bytes()));
    }
    listener.begins(documents.get(documents.size() - 1), item);
    // Unordered: one that is ordered goes to one shard after the other.
    collection.insertMany(documents, new InsertManyOptions().ordered(false));
  }

  private int hash(Item item) {
    HashRanges hashes = item.isSignal() ? shards.get((int) (-1 - item.number())) : HashRanges.all();
    return hashes.hash(item.number() + ((long) item.group() << 32));
  }
}
