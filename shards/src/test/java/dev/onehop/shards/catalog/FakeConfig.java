package dev.onehop.shards.catalog;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A config database in memory. It counts its reads, and a test can delay its replies. */
final class FakeConfig implements ConfigReader {
  final Map<String, List<BsonDocument>> collections = new ConcurrentHashMap<>();
  final List<BsonDocument> chunkFilters = new ArrayList<>();
  final AtomicInteger collectionReads = new AtomicInteger();
  final AtomicInteger reads = new AtomicInteger();
  private Mono<Void> gate = Mono.empty();

  void put(String collection, String... documents) {
    List<BsonDocument> parsed = new ArrayList<>();
    for (String document : documents) {
      parsed.add(BsonDocument.parse(document));
    }
    collections.put(collection, parsed);
  }

  /** Delays every reply until the sink completes. */
  Sinks.Empty<Void> hold() {
    Sinks.Empty<Void> sink = Sinks.empty();
    gate = sink.asMono();
    return sink;
  }

  @Override
  public Flux<List<BsonDocument>> batches(BsonDocument find) {
    String collection = find.getString("find").getValue();
    BsonDocument filter = find.getDocument("filter");
    reads.incrementAndGet();
    if (collection.equals("collections")) {
      collectionReads.incrementAndGet();
    }
    if (collection.equals("chunks")) {
      chunkFilters.add(filter);
    }
    return gate.then(Mono.fromCallable(() -> matching(collection, filter))).flux();
  }

  private List<BsonDocument> matching(String collection, BsonDocument filter) {
    return collections.getOrDefault(collection, List.of()).stream()
        .filter(document -> matches(document, filter))
        .sorted(Comparator.comparing(d -> d.getTimestamp("lastmod", new BsonTimestamp(0))))
        .toList();
  }

  private static boolean matches(BsonDocument document, BsonDocument filter) {
    if (filter.containsKey("$or")) {
      return filter.getArray("$or").stream().anyMatch(each -> matches(document, each.asDocument()));
    }
    return filter.entrySet().stream()
        .allMatch(condition -> matches(document.get(condition.getKey()), condition.getValue()));
  }

  private static boolean matches(BsonValue value, BsonValue condition) {
    if (condition instanceof BsonDocument range && range.containsKey("$gte")) {
      return value.asTimestamp().compareTo(range.getTimestamp("$gte")) >= 0;
    }
    if (condition instanceof BsonDocument range && range.containsKey("$gt")) {
      return value.asTimestamp().compareTo(range.getTimestamp("$gt")) > 0;
    }
    if (condition instanceof BsonDocument any && any.containsKey("$in")) {
      return any.getArray("$in").contains(value);
    }
    return condition.equals(value);
  }
}
