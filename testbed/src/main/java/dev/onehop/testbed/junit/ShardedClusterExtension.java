package dev.onehop.testbed.junit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each class its part of the cluster. Uses what JUnit 5 and 6 both have and neither
 * deprecates.
 */
final class ShardedClusterExtension
    implements BeforeAllCallback, AfterAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(ShardedClusterExtension.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = cluster(context);
  }

  /** Nested classes have nothing of their own to be removed. */
  @Override
  public void afterAll(ExtensionContext context) {
    SharedCluster ended =
        context.getStore(NAMESPACE).remove(SharedCluster.class, SharedCluster.class);
    if (ended != null) {
      ended.dropDatabases();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == SharedCluster.class;
  }

  @Override
  public SharedCluster resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return cluster(context);
  }

  /** Kept where the outermost class asks first: methods and nested classes find it there. */
  private static SharedCluster cluster(ExtensionContext context) {
    Store store = context.getStore(NAMESPACE);
    @Nullable SharedCluster found = store.get(SharedCluster.class, SharedCluster.class);
    if (found != null) {
      return found;
    }
    SharedCluster cluster = SharedCluster.of(context.getRequiredTestClass());
    store.put(SharedCluster.class, cluster);
    return cluster;
  }
}
