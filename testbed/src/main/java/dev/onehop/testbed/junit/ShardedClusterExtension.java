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
 * Gives each test class its databases on the cluster. It uses only methods of JUnit 5 that JUnit 6
 * also has and does not deprecate.
 */
final class ShardedClusterExtension
    implements BeforeAllCallback, AfterAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(ShardedClusterExtension.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = cluster(context);
  }

  /**
   * Drops the databases only after the outermost class, because nested classes use the same
   * databases.
   */
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

  /**
   * Returns the cluster of a class. It is stored in the context of the outermost class, where
   * methods and nested classes find it.
   */
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
