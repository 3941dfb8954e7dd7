package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModuleVersionsTest {
  @TempDir private Path folder;

  private URL jar(String module, String version) throws IOException {
    Path jar = folder.resolve(module + "-" + version);
    Path descriptor = jar.resolve("META-INF/maven/dev.onehop/" + module + "/pom.properties");
    Files.createDirectories(descriptor.getParent());
    Files.writeString(descriptor, "artifactId=" + module + "\nversion=" + version + "\n");
    return jar.toUri().toURL();
  }

  private static void check(URL... jars) throws IOException {
    try (URLClassLoader loader = new URLClassLoader(jars, null)) {
      Dependencies.checkModules(loader);
    }
  }

  @Test
  void oneVersionIsAccepted() {
    assertThatCode(() -> check(jar("onehop-core", "1.2"), jar("onehop-routing", "1.2")))
        .doesNotThrowAnyException();
    assertThatCode(ModuleVersionsTest::check).doesNotThrowAnyException();
  }

  @Test
  void differentVersionsAreRejected() {
    assertThatThrownBy(
            () ->
                check(
                    jar("onehop-core", "1.2"),
                    jar("onehop-wire", "1.1"),
                    jar("onehop-routing", "1.2")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "OneHop's modules on the class path have different versions: 1.1 of onehop-wire; 1.2 of"
                + " onehop-core, onehop-routing; import onehop-bom to have one version");
  }

  @Test
  void oneModuleInTwoVersionsIsRejected() {
    assertThatThrownBy(() -> check(jar("onehop-wire", "1.1"), jar("onehop-wire", "1.2")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("1.1 of onehop-wire; 1.2 of onehop-wire");
  }

  @Test
  void checksEveryModuleOfBom() throws IOException {
    assertThat(Dependencies.MODULES)
        .containsAll(
            Pattern.compile("<artifactId>(onehop-(?!bom|parent)[^<]+)")
                .matcher(Files.readString(Path.of("../bom/pom.xml")))
                .results()
                .map(each -> each.group(1))
                .toList());
  }
}
