package dev.onehop.routing.internal.client;

import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCluster;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.bson.codecs.configuration.CodecRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The same cluster, database or collection on another client. Only settings that differ are copied:
 * each copy costs, that with a registry of its own the codecs found so far. Registries are told
 * apart by identity, since equal ones are only made of the same classes.
 */
final class Counterpart {
  private final CodecRegistry common;

  /**
   * @param nearest the client that was made of the same settings as the others
   */
  Counterpart(MongoClient nearest) {
    this.common = nearest.getCodecRegistry();
  }

  MongoCluster cluster(MongoClient client, MongoCluster here) {
    MongoCluster there = client;
    if (here.getCodecRegistry() != common) {
      there = there.withCodecRegistry(here.getCodecRegistry());
    }
    if (!there.getReadPreference().equals(here.getReadPreference())) {
      there = there.withReadPreference(here.getReadPreference());
    }
    if (!there.getWriteConcern().equals(here.getWriteConcern())) {
      there = there.withWriteConcern(here.getWriteConcern());
    }
    if (!there.getReadConcern().equals(here.getReadConcern())) {
      there = there.withReadConcern(here.getReadConcern());
    }
    Long timeout = here.getTimeout(TimeUnit.MILLISECONDS);
    return isSame(timeout, there.getTimeout(TimeUnit.MILLISECONDS))
        ? there
        : there.withTimeout(timeout, TimeUnit.MILLISECONDS);
  }

  MongoDatabase database(MongoClient client, MongoDatabase here) {
    MongoDatabase there = client.getDatabase(here.getName());
    if (here.getCodecRegistry() != common) {
      there = there.withCodecRegistry(here.getCodecRegistry());
    }
    if (!there.getReadPreference().equals(here.getReadPreference())) {
      there = there.withReadPreference(here.getReadPreference());
    }
    if (!there.getWriteConcern().equals(here.getWriteConcern())) {
      there = there.withWriteConcern(here.getWriteConcern());
    }
    if (!there.getReadConcern().equals(here.getReadConcern())) {
      there = there.withReadConcern(here.getReadConcern());
    }
    Long timeout = here.getTimeout(TimeUnit.MILLISECONDS);
    return isSame(timeout, there.getTimeout(TimeUnit.MILLISECONDS))
        ? there
        : there.withTimeout(timeout, TimeUnit.MILLISECONDS);
  }

  <D> MongoCollection<D> collection(MongoClient client, MongoCollection<D> here) {
    MongoNamespace namespace = here.getNamespace();
    MongoCollection<D> there =
        client
            .getDatabase(namespace.getDatabaseName())
            .getCollection(namespace.getCollectionName(), here.getDocumentClass());
    if (here.getCodecRegistry() != common) {
      there = there.withCodecRegistry(here.getCodecRegistry());
    }
    if (!there.getReadPreference().equals(here.getReadPreference())) {
      there = there.withReadPreference(here.getReadPreference());
    }
    if (!there.getWriteConcern().equals(here.getWriteConcern())) {
      there = there.withWriteConcern(here.getWriteConcern());
    }
    if (!there.getReadConcern().equals(here.getReadConcern())) {
      there = there.withReadConcern(here.getReadConcern());
    }
    Long timeout = here.getTimeout(TimeUnit.MILLISECONDS);
    return isSame(timeout, there.getTimeout(TimeUnit.MILLISECONDS))
        ? there
        : there.withTimeout(timeout, TimeUnit.MILLISECONDS);
  }

  /** A timeout can't be taken away again, only be set. */
  private static boolean isSame(@Nullable Long here, @Nullable Long there) {
    return here == null || Objects.equals(here, there);
  }
}
