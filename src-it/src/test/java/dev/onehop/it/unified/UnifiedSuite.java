package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import dev.onehop.routing.clients.DriverCannot;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/**
 * The drivers' specification tests in one mode on one deployment. {@code
 * -Donehop.it.unified.test=REGEX} runs only the tests whose name contains a match. {@code
 * -Donehop.it.unified.all} also runs all other modes and deployments, and the folders that take
 * long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class UnifiedSuite {
  static final String ALL = "onehop.it.unified.all";

  /** The folders that take long and that are run with {@link #ALL} only. */
  private static final Set<String> LONG = Set.of("csot");

  /**
   * On a sharded cluster, the folders that are run with {@link #ALL} only. They take long, or have
   * fail points that only a plain client can reach.
   */
  private static final Set<String> LONG_ON_SHARDED =
      Set.of("csot", "retryable_reads", "retryable_writes", "unified-test-format");

  private static final String ONLY = System.getProperty("onehop.it.unified.test", "");

  private final Mode mode;
  private final Map<String, Tally> tallies = new TreeMap<>();
  private Deployment deployment;
  private Requirements requirements;
  private Expectations expectations;

  UnifiedSuite(Mode mode) {
    this.mode = mode;
  }

  /** The results of the tests of a folder. */
  private static final class Tally {
    int passed;
    int listed;
    int skipped;
    int failed;
    long nanos;
  }

  /** Sets the servers on which the tests run. */
  final void use(Deployment servers) {
    deployment = servers;
    requirements = new Requirements(deployment);
    expectations = Expectations.of(mode, deployment.topology());
  }

  @AfterAll
  void stopServers() {
    if (deployment == null) {
      return;
    }
    deployment.close();
    System.out.printf("specification tests: %s @ %s%n", mode.id(), deployment.topology());
    tallies.forEach(
        (folder, tally) ->
            System.out.printf(
                "  %-34s %4d passed %4d listed %4d skipped %4d failed %4d s%n",
                folder,
                tally.passed,
                tally.listed,
                tally.skipped,
                tally.failed,
                TimeUnit.NANOSECONDS.toSeconds(tally.nanos)));
  }

  @TestFactory
  Stream<DynamicNode> specifications() {
    return SpecificationFiles.FOLDERS.stream().filter(this::isRun).map(this::folder);
  }

  private boolean isRun(String folder) {
    return System.getProperty(ALL) != null
        || !(deployment.topology().equals("sharded") ? LONG_ON_SHARDED : LONG).contains(folder);
  }

  private DynamicNode folder(String name) {
    return DynamicContainer.dynamicContainer(
        name,
        SpecificationFiles.in(name).stream()
            .filter(test -> Pattern.compile(ONLY).matcher(test.id()).find())
            .map(test -> DynamicTest.dynamicTest(test.id(), () -> runAndCount(test))));
  }

  private void runAndCount(SpecificationTest test) {
    Tally tally = tallies.computeIfAbsent(test.folder(), any -> new Tally());
    long began = System.nanoTime();
    try {
      if (run(test)) {
        tally.passed++;
      } else {
        tally.listed++;
        Assumptions.abort("fails as listed: " + expectations.fails(test));
      }
    } catch (TestAbortedException e) {
      if (!String.valueOf(e.getMessage()).contains("fails as listed")) {
        tally.skipped++;
      }
      throw e;
    } catch (AssertionError | RuntimeException e) {
      tally.failed++;
      System.out.println(
          "FAILED " + test.id() + " ## " + String.valueOf(e.getMessage()).replace('\n', ' '));
      throw e;
    } finally {
      tally.nanos += System.nanoTime() - began;
    }
  }

  /**
   * @return true if the test passed; false if it failed and is listed as a known failure
   */
  private boolean run(SpecificationTest test) {
    @Nullable String known = expectations.fails(test);
    @Nullable String unsharded = expectations.unsharded(test);
    @Nullable String leftOut = expectations.leftOut(test);
    Assumptions.assumeTrue(leftOut == null, leftOut);
    Assumptions.assumeTrue(
        test.requirements().stream().allMatch(requirements::areMet), "for other servers");
    Assumptions.assumeTrue(test.skipReason().isEmpty(), test.skipReason());
    String unsupportedReason = deployment.unsupportedReason(test, mode);
    Assumptions.assumeTrue(unsupportedReason.isEmpty(), unsupportedReason);
    boolean sharded = unsharded == null;
    if (unsharded != null) {
      mustFail(test, true, unsharded);
    }
    if (known != null) {
      mustFail(test, sharded, known);
      return false;
    }
    run(test, sharded);
    return true;
  }

  private void mustFail(SpecificationTest test, boolean sharded, String reason) {
    try {
      run(test, sharded);
    } catch (AssertionError e) {
      return;
    }
    throw new IllegalStateException(
        "passes now: take it off the list; it was there for: " + reason);
  }

  private void run(SpecificationTest test, boolean sharded) {
    try (UnifiedRun run = new UnifiedRun(test, deployment, mode)) {
      run.run(sharded);
    } catch (DriverCannot e) {
      throw new TestAbortedException(e.getMessage());
    }
  }
}
