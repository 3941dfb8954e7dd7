package dev.onehop.jmh.workload;

import com.mongodb.ConnectionString;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.ycsb.LegacyClient;
import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

/** Loads the records of a workload. */
final class Loader {
  private static final String BATCH_SIZE = "500";

  private final Properties properties = new Properties();
  private final String url;

  Loader(String url, Properties workloadProperties) {
    this.url = url;
    properties.putAll(workloadProperties);
    properties.remove(
        "onehop.pipelining"); // the synchronous driver loads the records, and it has no pipelining
    properties.setProperty("mongodb.batchsize", BATCH_SIZE);
    properties.setProperty("mongodb.upsert", "true"); // some of the records may already exist
  }

  /** Inserts the records. Does nothing if the collection already has at least as many documents. */
  void loadUnlessThere(int records) throws DBException, WorkloadException {
    try (MongoClient client = MongoClients.create(url)) {
      // The bindings take the database from the URL by the same rule.
      String named = new ConnectionString(url).getDatabase();
      String database = named == null || named.equals("admin") ? "ycsb" : named;
      String table = CoreWorkload.TABLENAME_PROPERTY_DEFAULT;
      if (client.getDatabase(database).getCollection(table).countDocuments() >= records) {
        return;
      }
    }
    CoreWorkload workload = new CoreWorkload();
    workload.init(properties);
    DB binding = new LegacyClient();
    binding.setProperties(properties);
    binding.init();
    DB checked = new CheckedDb(binding);
    try {
      for (int i = 0; i < records; i++) {
        workload.doInsert(checked, new Object());
      }
    } finally {
      binding.cleanup(); // sends the last batch
    }
  }
}
