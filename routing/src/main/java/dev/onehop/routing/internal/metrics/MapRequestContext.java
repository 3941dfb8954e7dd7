package dev.onehop.routing.internal.metrics;

import com.mongodb.RequestContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** A request context for applications without one. Thread-safe. */
final class MapRequestContext implements RequestContext {
  private final Map<Object, Object> values = new ConcurrentHashMap<>();

  @Override
  // The signature is the driver's; the caller knows the type of the value.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "NullAway"})
  public <T> T get(Object key) {
    return (T) values.get(key);
  }

  @Override
  public boolean hasKey(Object key) {
    return values.containsKey(key);
  }

  @Override
  public boolean isEmpty() {
    return values.isEmpty();
  }

  @Override
  public void put(Object key, Object value) {
    values.put(key, value);
  }

  @Override
  public void delete(Object key) {
    values.remove(key);
  }

  @Override
  public int size() {
    return values.size();
  }

  @Override
  public Stream<Map.Entry<Object, Object>> stream() {
    return values.entrySet().stream();
  }
}
