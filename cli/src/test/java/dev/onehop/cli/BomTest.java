package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/**
 * Compares the BOM with the modules, because its version and its list of modules are written by
 * hand.
 */
class BomTest {
  private static final Path HOME = Path.of("..");

  private static List<String> texts(String pom, String path) throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(HOME.resolve(pom).toFile());
    NodeList found =
        (NodeList)
            XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
    return IntStream.range(0, found.getLength())
        .mapToObj(i -> found.item(i).getTextContent())
        .toList();
  }

  @Test
  void hasVersionOfProject() throws Exception {
    assertThat(texts("bom/pom.xml", "/project/version"))
        .isEqualTo(texts("pom.xml", "/project/version"));
  }

  @Test
  void listsEveryPublishedModule() throws Exception {
    List<String> published = new ArrayList<>();
    for (String module : texts("pom.xml", "/project/modules/module")) {
      if (!List.of("bom", "jmh", "src-it").contains(module)) {
        published.addAll(texts(module + "/pom.xml", "/project/artifactId"));
      }
    }
    assertThat(texts("bom/pom.xml", "//dependencyManagement//artifactId"))
        .containsExactlyInAnyOrderElementsOf(published);
  }
}
