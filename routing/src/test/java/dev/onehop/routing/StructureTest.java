package dev.onehop.routing;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The packages' dependencies go one way. */
class StructureTest {
  private static final String INTERNAL = "dev.onehop.routing.internal.";
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.onehop.routing");

  @Test
  void internalPackagesHaveNoCycles() {
    slices().matching(INTERNAL + "(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void wireProtocolKnowsNothingOfRouting() {
    noClasses()
        .that()
        .resideInAPackage(INTERNAL + "wire..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.onehop.core..",
            INTERNAL + "catalog..",
            INTERNAL + "direct..",
            INTERNAL + "targeted..")
        .check(CLASSES);
  }

  @Test
  void directModeNeedsNoDriver() {
    noClasses()
        .that()
        .resideInAnyPackage(INTERNAL + "direct..", INTERNAL + "catalog..", INTERNAL + "wire..")
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
        .resideInAnyPackage(INTERNAL + "direct..", INTERNAL + "wire..", INTERNAL + "catalog..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(java.time.Instant.class, java.time.Clock.class, java.util.Date.class)
        .check(CLASSES);
  }
}
