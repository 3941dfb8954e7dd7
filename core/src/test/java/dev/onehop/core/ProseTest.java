package dev.onehop.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.Prose.Figures;
import dev.onehop.core.Prose.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that the number of findings in pages and help does not increase. */
class ProseTest {
  @Test
  void noPageExceedsItsBudget() throws IOException {
    Path root = Path.of("..");
    Map<String, Figures> budgets = Prose.parse(Files.readAllLines(root.resolve("prose.csv")));
    Map<String, Figures> today = Prose.today(root);
    assertThat(today).containsKeys("README.md", "docs/glossary.md", Prose.HELP);
    assertThat(Prose.exceeded(root, today, budgets)).isEmpty();
    assertThat(today.keySet())
        .as("prose.csv names only existing files")
        .containsAll(budgets.keySet());
  }

  @Test
  void splitsMarkdownIntoSentences() {
    assertThat(
            Prose.markdownSentences(
                """
                # A heading
                One sentence with `code that is not read`. Another
                one, see [a page](http://nobody.test/). Version 1.2 stays one.

                    indented code

                    more of it

                - An item
                  in two lines.
                - Another item

                ```java
                String code;
                ```

                | Head | |
                | --- | --- |
                | a cell | one `a\\|b` more. And more |
                """))
        .containsExactly(
            "A heading",
            "One sentence with CODE.",
            "Another one, see a page.",
            "Version 1.2 stays one.",
            "An item in two lines.",
            "Another item",
            "Head",
            "a cell",
            "one CODE more.",
            "And more");
  }

  @Test
  void readsHelpFromAnnotations() {
    assertThat(
            Prose.helpSentences(
                """
                @Command(
                    name = "copy",
                    description = "Copies (all) documents, " + "with indexes.",
                    footer = {"Two lines.%nThe second."})
                class A {
                  String other = "no help here";
                """))
        .containsExactly("Copies (all) documents, with indexes.", "Two lines.", "The second.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Nobody reads it.",
        "The servers tell the time.",
        "It sends what is left.",
        "The latency is that of a mongos.",
        "The stream goes on.",
        "Each shard has a way of its own.",
        "The command waits in vain.",
        "A mongos stays beside it.",
        "A mongos takes all else."
      })
  void reportsListedPhrases(String sentence) {
    assertThat(kinds(sentence)).containsExactly(Prose.Kind.PHRASE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "What is a mongos?",
        "The standard is to understand telling names.",
        "The table is read, and the command is sent."
      })
  void ignoresPlainWords(String sentence) {
    assertThat(kinds(sentence)).isEmpty();
  }

  @Test
  void reportsSentencesOfMoreThan25Words() {
    assertThat(kinds("word ".repeat(25).strip())).isEmpty();
    assertThat(kinds("word ".repeat(26).strip())).containsExactly(Prose.Kind.LONG);
    assertThat(Prose.words("a b, c - 1 |")).isEqualTo(4);
  }

  @Test
  void reportsSentencesWithThreePassives() {
    assertThat(kinds("It is read, is sent, and was written.")).containsExactly(Prose.Kind.PASSIVES);
  }

  private static List<Prose.Kind> kinds(String sentence) {
    return Prose.findings(List.of(sentence)).stream().map(Finding::kind).toList();
  }

  @Test
  void reportsFindingsInNewFile(@TempDir Path root) throws IOException {
    Files.createDirectories(root.resolve("docs"));
    Files.createDirectories(root.resolve("cli/src/main"));
    Files.writeString(root.resolve("docs/old.md"), "Nobody is here.");
    Files.writeString(root.resolve("docs/new.md"), "Nobody is here.");
    Files.writeString(root.resolve("CHANGELOG.md"), "Nobody is here.");
    assertThat(
            Prose.exceeded(
                root, Prose.today(root), Prose.parse(List.of(Prose.HEADER, "docs/old.md,1,0,0"))))
        .singleElement()
        .asString()
        .startsWith("docs/new.md has ")
        .contains("\"Nobody\": Nobody is here.");
  }
}
