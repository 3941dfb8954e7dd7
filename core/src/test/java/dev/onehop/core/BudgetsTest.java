package dev.onehop.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.Budgets.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The test is in the module that is built first, so that a build above its budgets fails soon. */
class BudgetsTest {
  @Test
  void noModuleExceedsItsBudget() throws IOException {
    Path root = Path.of("..");
    Map<String, Figures> budgets = Budgets.parse(Files.readAllLines(root.resolve("budgets.csv")));
    Map<String, Figures> today = Budgets.today(root);
    assertThat(today).containsKeys("core", "wire", "routing", "integrations/flink");
    assertThat(Budgets.exceeded(today, budgets)).isEmpty();
    assertThat(budgets).as("budgets.csv has modules with main code only").hasSameSizeAs(today);
  }

  @Test
  void ignoresBlankLinesAndComments() {
    assertThat(Budgets.lines("")).isZero();
    assertThat(
            Budgets.lines(
                """
                package a; // counts

                /* Licence. */
                /**
                 * Javadoc.

                   class NotThis {}
                 */
                class A { /* counts */
                  // Comment.
                  int i = 1 * /* counts */ 2;
                  /* one
                  two */
                }
                """))
        .isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource({
    "'public class A {', true",
    "'public final class A {', true",
    "'public sealed interface A permits B {', true",
    "'public enum A {', true",
    "'public record A() {', true",
    "'public @interface A {', true",
    "'class A {', false",
    "'  public class Inner {', false",
    "'// public class A', false",
    "'public int classes() {', false"
  })
  void countsOnlyTopLevelPublicTypes(String line, boolean counts) {
    assertThat(Budgets.hasPublicType("package a;\n\n" + line + "\n}\n")).isEqualTo(counts);
  }

  @Test
  void countsMainCodeOfModulesInPom(@TempDir Path root) throws IOException {
    write(root.resolve("pom.xml"), "<module>a</module>\n<module>b/c</module><module>d</module>");
    write(root.resolve("a/src/main/java/x/A.java"), "package x;\n\npublic class A {\n}\n");
    write(root.resolve("a/src/main/java/x/B.java"), "package x;\nclass B {}\n");
    write(root.resolve("a/src/main/resources/x.txt"), "public class X {}\n");
    write(root.resolve("a/src/test/java/x/ATest.java"), "public class ATest {}\n");
    write(root.resolve("b/c/src/main/java/C.java"), "record C() {}\n");
    write(root.resolve("d/src/test/java/D.java"), "class D {}\n");
    write(root.resolve("other/src/main/java/E.java"), "class E {}\n");
    assertThat(Budgets.today(root))
        .isEqualTo(Map.of("a", new Figures(5, 1), "b/c", new Figures(1, 0)));
  }

  @Test
  void reportsEachExceededBudget() {
    Map<String, Figures> budgets =
        Budgets.parse(List.of(Budgets.HEADER, "a,10,2", "b,10,2", "c,10,2", "d,10,2"));
    Map<String, Figures> today =
        Map.of(
            "a", new Figures(10, 2),
            "b", new Figures(11, 1),
            "c", new Figures(9, 3),
            "e", new Figures(1, 0));
    assertThat(Budgets.exceeded(today, budgets))
        .containsExactlyInAnyOrder(
            "Module b has 11 lines of code, its budget is 10: remove some, or raise the budget in"
                + " budgets.csv and say why in the commit.",
            "Module c has 3 public types, its budget is 2: remove some, or raise the budget in"
                + " budgets.csv and say why in the commit.",
            "Module e has no budget: add the line e,1,0 to budgets.csv.");
  }

  private static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }
}
