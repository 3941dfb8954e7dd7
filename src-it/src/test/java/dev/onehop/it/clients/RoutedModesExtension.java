package dev.onehop.it.clients;

import com.mongodb.client.MongoClient;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.Driver;
import dev.onehop.testbed.junit.SharedCluster;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.AnnotationSupport;

/** Chooses the modes, and passes to each test the mode that it runs with. */
final class RoutedModesExtension implements TestTemplateInvocationContextProvider {
  private static final Namespace NAMESPACE = Namespace.create(RoutedModesExtension.class);

  /** The refresh interval of the clients. After this time, they know of migrations. */
  private static final Duration REFRESH = Duration.ofSeconds(2);

  @Override
  public boolean supportsTestTemplate(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(
      ExtensionContext context) {
    return modes(
            AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), RoutedModes.class)
                .orElseThrow())
        .stream()
        .map(Invocation::new);
  }

  private static List<Mode> modes(RoutedModes annotation) {
    boolean all =
        RoutedModes.FULL || annotation.driver().length == 1 || annotation.pipelined().length == 1;
    List<Mode> chosen = new ArrayList<>();
    for (int i = 0; i < annotation.mode().length; i++) {
      RoutingMode routing = annotation.mode()[i];
      boolean turnOfSync = i % 2 == 0;
      Arrays.stream(Mode.values())
          .filter(mode -> mode.routing == routing)
          .filter(mode -> Arrays.asList(annotation.driver()).contains(mode.driver))
          .filter(mode -> contains(annotation.pipelined(), mode.pipelined))
          .filter(mode -> all || (turnOfSync ? !mode.pipelined : mode.driver == Driver.REACTIVE))
          .forEach(chosen::add);
    }
    return chosen;
  }

  private static boolean contains(boolean[] values, boolean wanted) {
    for (boolean value : values) {
      if (value == wanted) {
        return true;
      }
    }
    return false;
  }

  private record Invocation(Mode mode) implements TestTemplateInvocationContext, ParameterResolver {
    @Override
    public String getDisplayName(int index) {
      return mode.id();
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(this);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      Class<?> type = parameter.getParameter().getType();
      return type == Mode.class || type == MongoClient.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Mode.class ? mode : client(context);
    }

    private MongoClient client(ExtensionContext context) {
      ExtensionContext ofClass = context;
      while (ofClass.getTestMethod().isPresent()) {
        ofClass = ofClass.getParent().orElseThrow();
      }
      return ofClass
          .getStore(NAMESPACE)
          .computeIfAbsent(
              mode,
              any -> mode.client(mode.builder(cluster(context).url()).refreshInterval(REFRESH)),
              MongoClient.class);
    }
  }

  /**
   * The shared cluster of the test class. The extension of {@code @ShardedCluster} provides it only
   * as a parameter, so JUnit has to call a method that has this parameter.
   */
  private static SharedCluster cluster(ExtensionContext context) {
    try {
      Method same = RoutedModesExtension.class.getDeclaredMethod("same", SharedCluster.class);
      return (SharedCluster) context.getExecutableInvoker().invoke(same);
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }

  static SharedCluster same(SharedCluster cluster) {
    return cluster;
  }
}
