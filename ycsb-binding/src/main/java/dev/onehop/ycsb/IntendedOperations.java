package dev.onehop.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.Workload;

/**
 * Returns the next operations of a workload, and does not execute them. Keys, fields and
 * proportions are YCSB's.
 *
 * <p>YCSB uses a new record in other operations as soon as its insert returns. Here an insert
 * returns at once, before it is sent. So an operation on a record whose insert has no reply yet
 * gets the newest inserted record instead.
 *
 * <p>Used by one thread. Results of inserts may come from other threads.
 */
final class IntendedOperations {
  private final Workload workload;
  private final Object thread;
  private final Operations operations;
  private final Taker taker = new Taker();
  private final List<Operation> steps = new ArrayList<>(2);
  private final Set<String> beingInserted = ConcurrentHashMap.newKeySet();
  private volatile @Nullable String newest;
  // Whether another operation must be drawn: the insert of the drawn record has no reply yet, and
  // neither has any other insert.
  private boolean again;

  /**
   * An operation to issue.
   *
   * @param name YCSB's name of the operation
   * @param key the record's key
   * @param status the operation's status; subscribing issues the operation
   */
  record Operation(String name, String key, Mono<Status> status) {}

  /**
   * @param thread the state of a client thread, from {@link Workload#initThread}
   */
  IntendedOperations(Workload workload, Object thread, Operations operations) {
    this.workload = workload;
    this.thread = thread;
    this.operations = operations;
  }

  /** The workload's next operation; null at the end. */
  @Nullable Operation next() {
    boolean more;
    do {
      steps.clear();
      again = false;
      more = workload.doTransaction(taker, thread);
    } while (more && (again || steps.isEmpty()));
    if (steps.isEmpty()) {
      return null;
    }
    Operation first = steps.get(0);
    if (steps.size() == 1) {
      return first;
    }
    Mono<Status> all = first.status();
    for (Operation step : steps.subList(1, steps.size())) {
      all = all.flatMap(status -> status.isOk() ? step.status() : Mono.just(status));
    }
    return new Operation("READ-MODIFY-WRITE", first.key(), all);
  }

  private String answered(String key) {
    if (!beingInserted.contains(key)) {
      return key;
    }
    String other = newest;
    again |= other == null;
    return other == null ? key : other;
  }

  private void add(String name, String key, Mono<Status> status) {
    steps.add(new Operation(name, key, status));
  }

  private final class Taker extends DB {
    @Override
    public Status read(
        String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
      String there = answered(key);
      add("READ", there, operations.read(table, there, fields, new HashMap<>()));
      return Status.OK;
    }

    @Override
    @SuppressWarnings("NonApiType") // YCSB's signature
    public Status scan(
        String table,
        String startKey,
        int recordCount,
        @Nullable Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      add(
          "SCAN",
          startKey,
          operations.scan(table, startKey, recordCount, fields, new ArrayList<>()));
      return Status.OK;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      String there = answered(key);
      add("UPDATE", there, operations.update(table, there, values));
      return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      beingInserted.add(key);
      add(
          "INSERT",
          key,
          operations
              .insert(table, key, values)
              .doOnSuccess(status -> newest = key)
              .doFinally(end -> beingInserted.remove(key)));
      return Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
      add("DELETE", key, operations.delete(table, key));
      return Status.OK;
    }
  }
}
