package dev.onehop.testbed.junit;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives each class its part of the cluster. JUnit closes both: the part, and the cluster. */
final class ShardedClusterExtension implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(ShardedClusterExtension.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = cluster(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == SharedCluster.class;
  }

  @Override
  public SharedCluster resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return cluster(context).cluster();
  }

  /** Kept where the outermost class asks first: methods and nested classes find it there. */
  private static ClassDatabases cluster(ExtensionContext context) {
    SharedTestbed testbed =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
            .computeIfAbsent(SharedTestbed.class);
    return context
        .getStore(NAMESPACE)
        .computeIfAbsent(
            ClassDatabases.class,
            key -> new ClassDatabases(testbed, context.getRequiredTestClass().getSimpleName()),
            ClassDatabases.class);
  }

  /** Drops a class's databases when it ends. */
  private record ClassDatabases(SharedTestbed testbed, String name) implements AutoCloseable {
    SharedCluster cluster() {
      return new SharedCluster(testbed, name);
    }

    @Override
    public void close() {
      testbed.dropDatabases(name);
    }
  }
}
