package dev.onehop.wire;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.time.Clock;
import java.time.Instant;
import java.util.Date;

/** The rules for the packages of every module. */
public final class PackageRules {
  private PackageRules() {}

  /** The classes of a package and of the packages below it, without test classes. */
  public static JavaClasses classesOf(String root) {
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests())
        .importPackages(root);
  }

  /** The packages have no cyclic dependencies. */
  public static void haveNoCycles(JavaClasses classes) {
    slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass each) {
                return SliceIdentifier.of(each.getPackageName());
              }

              @Override
              public String getDescription() {
                return "packages";
              }
            })
        .should()
        .beFreeOfCycles()
        .check(classes);
  }

  /**
   * No class implements the client API of the driver, because each release adds to the API. No
   * class uses the internals of the driver, because each release changes them.
   */
  public static void keepToTheDriversApi(JavaClasses classes) {
    noClasses()
        .should()
        .implement(
            resideInAnyPackage("com.mongodb.client", "com.mongodb.reactivestreams.client")
                .and(
                    simpleNameStartingWith("Mongo")
                        .or(simpleNameEndingWith("Publisher"))
                        .or(simpleNameStartingWith("ClientSession")))
                .as("the driver's client API"))
        .check(classes);
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.mongodb.internal..")
        .check(classes);
  }

  /** Durations must not change when the system clock is set, so no class reads this clock. */
  public static void takeDurationsFromTheMonotonicClock(JavaClasses classes) {
    noClasses()
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(Instant.class, Clock.class, Date.class)
        .check(classes);
  }

  public static void needNoDriver(JavaClasses classes) {
    noClasses().should().dependOnClassesThat().resideInAPackage("com.mongodb..").check(classes);
  }
}
