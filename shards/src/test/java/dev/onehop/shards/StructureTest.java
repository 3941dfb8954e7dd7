package dev.onehop.shards;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;

import com.tngtech.archunit.core.domain.JavaClasses;
import dev.onehop.wire.PackageRules;
import org.junit.jupiter.api.Test;

/** The packages have no cyclic dependencies. */
class StructureTest {
  private static final String ROOT = "dev.onehop.shards";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);
  private static final JavaClasses OWN_PROTOCOL =
      CLASSES.that(
          resideInAnyPackage(
              ROOT + ".catalog..", ROOT + ".cluster..", ROOT + ".command..", ROOT + ".cursor.."));

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  @Test
  void commandsDoNotDependOnDriver() {
    PackageRules.needNoDriver(OWN_PROTOCOL);
  }

  @Test
  void usesOnlyStableDriverApi() {
    PackageRules.keepToTheDriversApi(CLASSES);
  }

  @Test
  void durationsUseMonotonicClock() {
    PackageRules.takeDurationsFromTheMonotonicClock(OWN_PROTOCOL);
  }
}
