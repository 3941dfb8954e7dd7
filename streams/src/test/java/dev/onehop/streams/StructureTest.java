package dev.onehop.streams;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import dev.onehop.wire.PackageRules;
import org.junit.jupiter.api.Test;

/** The dependencies between packages have no cycles. */
class StructureTest {
  private static final String ROOT = "dev.onehop.streams";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  @Test
  void mergeDoesNoInputAndOutput() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".internal.merge..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.onehop.shards..",
            "dev.onehop.wire..",
            "io.netty..",
            "com.mongodb.reactivestreams..")
        .check(CLASSES);
  }

  @Test
  void usesNoInternalsOfOtherModules() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("com.mongodb.internal..", "dev.onehop.routing..")
        .check(CLASSES);
  }

  /**
   * Durations must not change when the system clock is set, so {@code currentTimeMillis} is not
   * allowed.
   */
  @Test
  void durationsUseMonotonicClock() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".internal..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .check(CLASSES);
  }
}
