package dev.onehop.copy.verify;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.StructureReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Compares two clusters in one or more rounds. A round compares the collections and indexes, and
 * then the documents of all collections whose documents were not compared before. The comparison
 * ends after a round in which no such collection exists and in which each difference was already
 * found in the round before. Not thread-safe.
 */
final class Rounds {
  private static final int MOST_ROUNDS = 10;

  private final Side source;
  private final Side destination;
  private final Mapping mapping;
  private final Duration settle;
  private final DocumentComparison documents;
  private final VerifyMeter meter;
  private final Map<String, CollectionWork> compared = new LinkedHashMap<>();

  /**
   * @param settle how far the destination may be behind the source
   */
  Rounds(
      Side source,
      Side destination,
      Mapping mapping,
      Duration settle,
      DocumentComparison documents,
      VerifyMeter meter) {
    this.source = source;
    this.destination = destination;
    this.mapping = mapping;
    this.settle = settle;
    this.documents = documents;
    this.meter = meter;
  }

  /** The result of a range, of a collection, or of all collections together. */
  record Result(
      long compared,
      long missing,
      long extra,
      long different,
      long unsettled,
      List<Difference> details) {
    static final Result NONE = new Result(0, 0, 0, 0, 0, List.of());

    Result plus(Result other) {
      List<Difference> both = new ArrayList<>(details);
      both.addAll(other.details);
      return new Result(
          compared + other.compared,
          missing + other.missing,
          extra + other.extra,
          different + other.different,
          unsettled + other.unsettled,
          both);
    }
  }

  /**
   * Compares the clusters.
   *
   * @param details the largest number of differing keys that the report names
   * @throws IllegalStateException if collections change faster than they can be compared
   */
  VerifyReport compare(int details) throws InterruptedException {
    Set<MetadataDifference> before = null;
    for (int round = 0; round < MOST_ROUNDS; round++) {
      meter.phase("reading collections and indexes");
      long begun = System.nanoTime();
      MetadataComparison metadata = metadata();
      List<CollectionPair> changed = new ArrayList<>();
      for (CollectionPair pair : metadata.pairs()) {
        CollectionWork known = compared.get(pair.namespace());
        if (known == null || !known.pair().isSameAs(pair)) {
          changed.add(pair);
        }
      }
      compared
          .keySet()
          .retainAll(metadata.pairs().stream().map(CollectionPair::namespace).toList());
      Set<MetadataDifference> now = new HashSet<>(metadata.differences());
      // A difference that two rounds find is final: the destination has had the time to receive the
      // change.
      if (before != null && changed.isEmpty() && before.containsAll(now)) {
        return report(metadata.differences(), details);
      }
      for (CollectionWork collection : documents.compare(changed)) {
        compared.put(collection.pair().namespace(), collection);
      }
      if (!now.isEmpty()) {
        meter.phase("waiting before collections and indexes are read again");
        long left = settle.toNanos() - (System.nanoTime() - begun);
        TimeUnit.NANOSECONDS.sleep(Math.max(0, left));
      }
      before = now;
    }
    throw new IllegalStateException(
        "collections, options or indexes keep changing, so they can't be compared");
  }

  private VerifyReport report(List<MetadataDifference> metadata, int details) {
    Result all =
        compared.values().stream().map(CollectionWork::result).reduce(Result.NONE, Result::plus);
    return new VerifyReport(
        all.compared(),
        all.missing(),
        all.extra(),
        all.different(),
        all.unsettled(),
        metadata,
        all.details().subList(0, Math.min(details, all.details().size())),
        meter.resumed.get());
  }

  private MetadataComparison metadata() throws InterruptedException {
    SortedMap<String, CollectionSpec> from = read(source, mapping);
    SortedMap<String, CollectionSpec> to = read(destination, mapping.inverted());
    if (from.isEmpty() && to.isEmpty() && !mapping.included().isEmpty()) {
      throw new IllegalArgumentException("the selection includes no collection of either cluster");
    }
    if (from.keySet().stream().anyMatch(name -> name.equals(mapping.destination(name)))) {
      source.refuseSameCluster(destination);
    }
    MetadataComparison metadata =
        new MetadataComparison(
            mapping, source.cluster().isSharded() && destination.cluster().isSharded());
    metadata.compare(from, to);
    return metadata;
  }

  /** The collections that a mapping includes. A time series stands for its buckets. */
  private static SortedMap<String, CollectionSpec> read(Side side, Mapping included)
      throws InterruptedException {
    SortedMap<String, CollectionSpec> specs = new TreeMap<>();
    for (CollectionSpec spec :
        new StructureReader(side.cluster(), included, systemCollection -> {}).read()) {
      specs.put(spec.namespace(), spec);
    }
    return specs;
  }
}
