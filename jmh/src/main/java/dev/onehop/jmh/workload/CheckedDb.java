package dev.onehop.jmh.workload;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * A binding that throws an exception for any status other than OK, because workloads ignore the
 * status.
 */
final class CheckedDb extends DB {
  private final DB binding;

  CheckedDb(DB binding) {
    this.binding = binding;
  }

  @Override
  public Status read(
      String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
    return orThrow("READ", binding.read(table, key, fields, result));
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's method has this type
  public Status scan(
      String table,
      String startKey,
      int recordCount,
      @Nullable Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return orThrow("SCAN", binding.scan(table, startKey, recordCount, fields, result));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return orThrow("UPDATE", binding.update(table, key, values));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return orThrow("INSERT", binding.insert(table, key, values));
  }

  @Override
  public Status delete(String table, String key) {
    return orThrow("DELETE", binding.delete(table, key));
  }

  private static Status orThrow(String operation, Status status) {
    if (!status.isOk()) {
      throw new IllegalStateException(operation + " ended with " + status.getName());
    }
    return status;
  }
}
