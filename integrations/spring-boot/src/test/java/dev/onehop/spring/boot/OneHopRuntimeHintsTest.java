package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import dev.onehop.routing.OneHop;
import io.netty.channel.socket.SocketChannel;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.core.io.support.SpringFactoriesLoader;

class OneHopRuntimeHintsTest {
  private static RuntimeHints hints() {
    RuntimeHints hints = new RuntimeHints();
    SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
        .load(RuntimeHintsRegistrar.class)
        .stream()
        .filter(OneHopRuntimeHints.class::isInstance)
        .forEach(ours -> ours.registerHints(hints, null));
    return hints;
  }

  @Test
  void nettyCanCreateChannels() throws Exception {
    for (String name : OneHopRuntimeHints.CHANNELS) {
      Class<?> channel = Class.forName(name);
      assertThat(SocketChannel.class).isAssignableFrom(channel);
      assertThat(reflection().onConstructor(channel.getConstructor())).accepts(hints());
    }
  }

  @Test
  void routerFindsItsResources() throws Exception {
    Set<String> requested = new TreeSet<>();
    // This class loader stays open, because the router's threads still load classes when they end.
    Class<?> type = new RecordingClassLoader(requested).loadClass(OneHop.class.getName());
    Object builder = type.getMethod("builder", String.class).invoke(null, "mongodb://localhost:1/");
    ((AutoCloseable) builder.getClass().getMethod("build").invoke(builder)).close();
    assertThat(requested)
        .contains("com/mongodb/MongoClientSettings.class")
        .allSatisfy(name -> assertThat(resource().forResource(name)).accepts(hints()));
  }

  /**
   * A class loader that loads all classes itself and records each requested resource that exists.
   */
  private static final class RecordingClassLoader extends URLClassLoader {
    private final Set<String> requested;

    RecordingClassLoader(Set<String> requested) throws Exception {
      super(classPath(), ClassLoader.getPlatformClassLoader());
      this.requested = requested;
    }

    private static URL[] classPath() throws Exception {
      var urls = new ArrayList<URL>();
      for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
        urls.add(Path.of(entry).toUri().toURL());
      }
      return urls.toArray(URL[]::new);
    }

    @Override
    public URL getResource(String name) {
      URL found = super.getResource(name);
      if (found != null && (name.endsWith(".class") || name.startsWith("dev/onehop/"))) {
        requested.add(name);
      }
      return found;
    }
  }
}
