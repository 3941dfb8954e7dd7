package dev.onehop.wire;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import org.junit.jupiter.api.Test;

/** The packages have no cyclic dependencies. */
class StructureTest {
  private static final String ROOT = "dev.onehop.wire";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);
  private static final JavaClasses OWN_PROTOCOL =
      CLASSES.that(
          resideInAnyPackage(
              ROOT, ROOT + ".message..", ROOT + ".channel..", ROOT + ".connection.."));

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  @Test
  void wireDoesNotDependOnRouting() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.onehop.core.table..",
            "dev.onehop.core.targeting..",
            "dev.onehop.shards..",
            "dev.onehop.routing..")
        .check(CLASSES);
  }

  @Test
  void connectionsDoNotDependOnDriver() {
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
