package dev.onehop.testbed.standin.command;

import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors.OpenCursor;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.wire.message.BsonCopies;
import dev.onehop.wire.message.CommandFields;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One cursor over the cursors of several shards, which were all opened with one routing table. It
 * returns documents in sort order, or in any order without a sort.
 *
 * <p>Not thread-safe: one request at a time uses a cursor.
 */
final class MergedCursor implements OpenCursor {
  private static final int DEFAULT_FIRST_BATCH = 101;
  private static final int DEFAULT_NEXT_BATCH = 1_000;
  private static final Set<String> SORT_KEY = Set.of(SortKeys.FIELD);

  private final String namespace;
  private final List<Source> sources;
  private final @Nullable SortKeys order;
  private long toSkip;
  private long left;

  /** The documents of one shard: those that have arrived, and the cursor for the later ones. */
  static final class Source {
    private final Deque<RawBsonDocument> buffer = new ArrayDeque<>();
    private byte @Nullable [] headKey;
    private volatile @Nullable ShardCursor cursor;
    private boolean partial;

    Source(BsonDocument firstReply, @Nullable ShardCursor cursor) {
      this.cursor = cursor;
      take(firstReply);
    }

    private void take(BsonDocument reply) {
      buffer.addAll(CursorReplies.documents(reply));
      partial |= CursorReplies.isPartial(reply);
      if (CursorReplies.id(reply) == 0) {
        cursor = null;
      }
    }

    private boolean isBefore(Source other, SortKeys order) {
      return Arrays.compareUnsigned(headKey(order), other.headKey(order)) < 0;
    }

    private byte[] headKey(SortKeys order) {
      if (headKey == null) {
        headKey = order.key(buffer.element());
      }
      return headKey;
    }

    private RawBsonDocument remove() {
      headKey = null;
      return buffer.remove();
    }

    private boolean mustFetch() {
      return buffer.isEmpty() && cursor != null;
    }
  }

  /**
   * @param order the order of the documents, which then have the field {@code $sortKey}; null for
   *     any order
   * @param limit the number of documents to return in total; 0 for no limit
   */
  MergedCursor(
      String namespace, List<Source> sources, @Nullable SortKeys order, long skip, long limit) {
    this.namespace = namespace;
    this.sources = sources;
    this.order = order;
    this.toSkip = skip;
    this.left = limit == 0 ? Long.MAX_VALUE : limit;
  }

  /** The first batch. */
  Mono<List<BsonDocument>> firstBatch(@Nullable BsonValue batchSize) {
    return fill(
        Batch.of(
            batchSize != null && batchSize.isNumber()
                ? CommandFields.count(new BsonDocument("batchSize", batchSize), "batchSize")
                : DEFAULT_FIRST_BATCH));
  }

  boolean isExhausted() {
    return left == 0
        || sources.stream().allMatch(source -> source.buffer.isEmpty() && source.cursor == null);
  }

  /** Marks a reply as partial if a shard could not be reached. */
  BsonDocument marked(BsonDocument reply) {
    return sources.stream().anyMatch(source -> source.partial)
        ? CursorReplies.partial(reply)
        : reply;
  }

  String namespace() {
    return namespace;
  }

  @Override
  public Mono<BsonDocument> getMore(BsonDocument command, long id) {
    int wanted = CommandFields.count(command, "batchSize");
    return fill(wanted > 0 ? Batch.of(wanted) : Batch.ofAtMost(DEFAULT_NEXT_BATCH))
        .flatMap(
            batch -> {
              BsonDocument reply =
                  marked(CursorReplies.next(namespace, isExhausted() ? 0 : id, batch));
              return isExhausted() ? kill().thenReturn(reply) : Mono.just(reply);
            });
  }

  @Override
  public boolean isOf(Set<BsonValue> sessions) {
    return anyCursor(cursor -> cursor.isOf(sessions));
  }

  @Override
  public boolean neverTimesOut() {
    return anyCursor(ShardCursor::neverTimesOut);
  }

  private boolean anyCursor(Predicate<ShardCursor> is) {
    return sources.stream()
        .map(source -> source.cursor)
        .anyMatch(cursor -> cursor != null && is.test(cursor));
  }

  @Override
  public Mono<Void> kill() {
    return Flux.fromIterable(sources)
        .flatMap(
            source -> {
              ShardCursor cursor = source.cursor;
              source.cursor = null;
              return cursor == null ? Mono.empty() : cursor.kill();
            })
        .then();
  }

  private Mono<List<BsonDocument>> fill(Batch batch) {
    while (!batch.isComplete() && left > 0) {
      List<Source> dry = sources.stream().filter(Source::mustFetch).toList();
      boolean anyReady = sources.stream().anyMatch(source -> !source.buffer.isEmpty());
      // In sort order, the smallest document is known only if every shard has returned its next
      // document.
      if (!dry.isEmpty() && (order != null || !anyReady)) {
        int documents = mostOfOneShard(batch);
        return Flux.fromIterable(dry)
            .flatMap(source -> fetch(source, documents))
            .then(Mono.defer(() -> fill(batch)));
      }
      Source next = least();
      if (next == null) {
        break;
      }
      if (toSkip > 0) {
        next.remove();
        toSkip--;
        continue;
      }
      int size = next.buffer.element().getByteBuffer().remaining();
      if (!batch.hasRoomFor(size)) {
        break;
      }
      batch.add(visible(next.remove()), size);
      left--;
    }
    return Mono.just(batch.documents());
  }

  /**
   * Returns the number of documents to request from each shard, or 0 for the shard's default. It is
   * the number of documents that the batch still lacks, because one shard may have all of them.
   */
  private int mostOfOneShard(Batch batch) {
    int missing = batch.missing();
    return missing == 0
        ? 0
        : (int) Math.min(Integer.MAX_VALUE, saturatedSum(Math.min(missing, left), toSkip));
  }

  private static long saturatedSum(long a, long b) {
    return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
  }

  private Mono<Void> fetch(Source source, int documents) {
    ShardCursor cursor = source.cursor;
    if (cursor == null) {
      return Mono.empty();
    }
    return cursor
        .next(documents)
        .flatMap(CursorReplies::refuseFailed)
        .doOnNext(source::take)
        .then();
  }

  private @Nullable Source least() {
    Source least = null;
    for (Source source : sources) {
      if (!source.buffer.isEmpty()
          && (least == null || (order != null && source.isBefore(least, order)))) {
        least = source;
      }
    }
    return least;
  }

  /** The document for the client, without the sort key. */
  private BsonDocument visible(BsonDocument document) {
    return order == null ? document : BsonCopies.without(document, SORT_KEY);
  }
}
