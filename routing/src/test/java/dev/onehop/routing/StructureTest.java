package dev.onehop.routing;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import org.junit.jupiter.api.Test;

/** The packages' dependencies go one way. */
class StructureTest {
  private static final String ROOT = "dev.onehop.routing";
  private static final String INTERNAL = ROOT + ".internal.";
  private static final String SPI = ROOT + ".spi.";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);
  private static final JavaClasses DIRECT_MODE =
      CLASSES.that(
          resideInAnyPackage(
              SPI + "direct..",
              SPI + "shard..",
              SPI + "cursor..",
              SPI + "wire..",
              INTERNAL + "wire..",
              INTERNAL + "catalog.."));

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
    PackageRules.needNoDriver(DIRECT_MODE);
  }

  @Test
  void theDriversClientApiAndInternalsAreLeftAlone() {
    PackageRules.keepToTheDriversApi(CLASSES);
  }

  @Test
  void durationsAreTakenFromTheMonotonicClock() {
    PackageRules.takeDurationsFromTheMonotonicClock(DIRECT_MODE);
  }
}
