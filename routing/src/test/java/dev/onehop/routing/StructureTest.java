package dev.onehop.routing;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import org.junit.jupiter.api.Test;

/** The packages' dependencies go one way. */
class StructureTest {
  private static final String ROOT = "dev.onehop.routing";
  private static final String INTERNAL = ROOT + ".internal.";
  private static final String SPI = ROOT + ".spi.";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  /** It makes what the others are. */
  @Test
  void nothingUsesTheRoot() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT)
        .check(CLASSES);
  }

  @Test
  void whatApplicationsReadUsesNothingInternal() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".observation", ROOT + ".transport")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(INTERNAL + ".", SPI + ".")
        .check(CLASSES);
  }

  @Test
  void wireProtocolKnowsNothingOfRouting() {
    noClasses()
        .that()
        .resideInAnyPackage(INTERNAL + "wire..", SPI + "wire..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.onehop.core..",
            INTERNAL + "catalog..",
            INTERNAL + "targeted..",
            SPI + "direct..",
            SPI + "shard..",
            SPI + "cursor..")
        .check(CLASSES);
  }

  @Test
  void directModeNeedsNoDriver() {
    noClasses()
        .that()
        .resideInAnyPackage(
            SPI + "direct..",
            SPI + "shard..",
            SPI + "cursor..",
            SPI + "wire..",
            INTERNAL + "catalog..",
            INTERNAL + "wire..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.mongodb..")
        .check(CLASSES);
  }

  /** Each release of the driver adds to them. */
  @Test
  void nothingImplementsTheDriversClientApi() {
    noClasses()
        .should()
        .implement(
            resideInAnyPackage("com.mongodb.client", "com.mongodb.reactivestreams.client")
                .and(
                    simpleNameStartingWith("Mongo")
                        .or(simpleNameEndingWith("Publisher"))
                        .or(simpleNameStartingWith("ClientSession")))
                .as("the driver's client API"))
        .check(CLASSES);
  }

  @Test
  void theDriversInternalsAreLeftAlone() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.mongodb.internal..")
        .check(CLASSES);
  }

  /** A clock that jumps must not end or prolong anything. */
  @Test
  void durationsAreTakenFromTheMonotonicClock() {
    noClasses()
        .that()
        .resideInAnyPackage(
            SPI + "direct..",
            SPI + "shard..",
            SPI + "cursor..",
            SPI + "wire..",
            INTERNAL + "wire..",
            INTERNAL + "catalog..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(java.time.Instant.class, java.time.Clock.class, java.util.Date.class)
        .check(CLASSES);
  }
}
