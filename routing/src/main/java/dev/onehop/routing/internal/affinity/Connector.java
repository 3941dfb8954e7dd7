package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;

/** Makes official clients. */
public interface Connector {
  /** A client of these settings, which the caller closes. */
  MongoClient connect(MongoClientSettings settings);
}
