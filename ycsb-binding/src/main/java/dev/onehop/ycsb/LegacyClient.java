package dev.onehop.ycsb;

import com.mongodb.client.MongoClients;

/**
 * YCSB binding {@code legacy}: the official synchronous MongoDB driver.
 *
 * <p>One instance belongs to one YCSB client thread; all instances of a process share one client.
 */
public final class LegacyClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public LegacyClient() {
    super("legacy");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    return new SyncStore(MongoClients.create(options.clientSettings()), options.database());
  }
}
