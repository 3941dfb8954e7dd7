package dev.onehop.measure.report;

import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.RoundTripCheck;
import dev.onehop.measure.results.RouterCost;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.ServerFacts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The report of a run: sentences with the headline first, key figures, the run's limits, and
 * sections. A terminal and a page show the same. Not thread-safe.
 *
 * @param logs the first words of a sentence, which name the logs in the page's folder; may be empty
 * @param notices the facts that a reader must know first
 * @param sentences the findings
 */
record Sheet(
    String title,
    RunResults results,
    String logs,
    List<String> notices,
    List<String> sentences,
    List<Figure> figures,
    List<String> limits,
    List<Section> sections) {

  private static final String STAND_IN =
      "The routers are OneHop's stand-in, not mongos, because no mongos binary was found. Like a"
          + " mongos, the stand-in serves one request at a time per connection. Its speed, its cost"
          + " and its lag are not those of a mongos.";

  /**
   * A key figure, which a page shows in large letters.
   *
   * @param value the value with its unit
   * @param what the name of the quantity
   * @param beside the value to compare with; may be empty
   */
  record Figure(String value, String what, String beside) {}

  /**
   * Creates a sheet with the parts that every run has: whether the run is complete, and its limits.
   */
  Sheet(String title, RunResults results, String logs) {
    this(
        title,
        results,
        logs,
        new ArrayList<>(),
        new ArrayList<>(),
        new ArrayList<>(),
        new ArrayList<>(),
        new ArrayList<>());
    RunFacts run = results.run();
    if (run != null && !run.complete()) {
      notice(
          // Without a reason for an early end, the run goes on, or its process was killed.
          run.stopped() == null
              ? "So far %d of %d measurements.".formatted(results.finished(), run.pointsPlanned())
              : "Unfinished run: %d of %d measurements (%s)."
                  .formatted(results.finished(), run.pointsPlanned(), run.stopped()));
    }
    notice(results.fault().isEmpty() ? "" : results.fault() + "; see the table.");
    notice(RoundTripCheck.notice(results.topology()));
    if (results.server().router().isStandIn()) {
      limits.add(STAND_IN);
      RouterCost cost = results.server().router().cost();
      if (cost != null) {
        limits.add(cost.sentence());
      }
    }
    if (run != null) {
      if (run.load().processors() != null) {
        limits.add("Processors: " + run.load().processors() + ".");
      }
      run.load().missing().forEach(what -> limits.add("Unknown: " + brief(what) + "."));
    }
  }

  /** Removes the server's full reply from the end of a driver's message. */
  private static String brief(String what) {
    return what.replaceFirst("\\.? *The full response is .*", "");
  }

  /** Adds a fact that a reader must know first. An empty text is left out. */
  Sheet notice(String text) {
    if (!text.isEmpty()) {
      notices.add(text);
    }
    return this;
  }

  /** Adds a finding. An empty text is left out. */
  Sheet say(String sentence) {
    if (!sentence.isEmpty()) {
      sentences.add(sentence);
    }
    return this;
  }

  /** Adds a key figure. */
  Sheet figure(String value, String what, String beside) {
    figures.add(new Figure(value, what, beside));
    return this;
  }

  /** Adds a limit of the findings. */
  Sheet limit(String sentence) {
    limits.add(sentence);
    return this;
  }

  /** Adds a section. An empty section is left out. */
  Sheet add(Section section) {
    if (!section.isEmpty()) {
      sections.add(section);
    }
    return this;
  }

  /** The headline. */
  String headline() {
    return sentences.isEmpty() ? "No point was finished." : sentences.get(0);
  }

  /** All findings except the headline. */
  List<String> more() {
    return sentences.subList(Math.min(1, sentences.size()), sentences.size());
  }

  List<Section> sections(Medium medium) {
    return sections.stream().filter(section -> section.isIn(medium)).toList();
  }

  /**
   * Returns the text for a terminal. Lines end in newlines. The findings are the last part, because
   * this part stays visible.
   */
  String text() {
    StringBuilder text = new StringBuilder(surroundings()).append('\n');
    Set<String> said = new HashSet<>();
    for (Section section : sections(Medium.TERMINAL)) {
      text.append('\n').append(section.title()).append('\n');
      section.text().forEach(line -> text.append(line).append('\n'));
      section.tables().forEach(table -> text.append(table.text(said)));
    }
    text.append('\n');
    notices.forEach(notice -> text.append("! ").append(notice).append('\n'));
    limits.forEach(limit -> text.append(limit).append('\n'));
    text.append('\n').append(headline()).append('\n');
    more().forEach(sentence -> text.append(sentence).append('\n'));
    return text.toString();
  }

  /** Returns the topology and the servers in one line. */
  private String surroundings() {
    String mongod = results.server().mongod();
    return "Topology %s%s%s"
        .formatted(
            results.topology().name(),
            mongod.equals(ServerFacts.UNKNOWN) ? "" : ", mongod " + mongod,
            routers(results.server()).isEmpty() ? "" : ", " + routers(results.server()));
  }

  /** Returns the kind of routers in words; empty if there are no routers. */
  static String routers(ServerFacts server) {
    ServerFacts.Router router = server.router();
    if (router.kind().equals(ServerFacts.Router.NONE)) {
      return "";
    }
    return (router.isStandIn() ? "STAND-IN routers (no mongos binary), " : "mongos ")
        + router.version();
  }
}
