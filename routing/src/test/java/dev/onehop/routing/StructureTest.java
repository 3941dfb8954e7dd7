package dev.onehop.routing;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import dev.onehop.wire.PackageRules;
import org.junit.jupiter.api.Test;

/** The packages have no cyclic dependencies. */
class StructureTest {
  private static final String ROOT = "dev.onehop.routing";
  private static final String INTERNAL = ROOT + ".internal.";
  // The package of direct mode without the class DirectMode, which creates the clients.
  private static final DescribedPredicate<JavaClass> DIRECT =
      resideInAPackage(INTERNAL + "direct..").and(not(simpleNameStartingWith("DirectMode")));
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  /**
   * The root package creates objects of the other packages. So these packages must not depend on
   * the root package.
   */
  @Test
  void otherPackagesDoNotUseRootPackage() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT)
        .check(CLASSES);
  }

  @Test
  void publicPackagesDoNotUseInternalPackages() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".observation", ROOT + ".transport")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            INTERNAL + ".", ROOT + ".setup..", "dev.onehop.shards..", "dev.onehop.wire..")
        .check(CLASSES);
  }

  @Test
  void directRouterDoesNotDependOnDriver() {
    PackageRules.needNoDriver(CLASSES.that(DIRECT));
  }

  @Test
  void usesOnlyStableDriverApi() {
    PackageRules.keepToTheDriversApi(CLASSES);
  }

  @Test
  void durationsUseMonotonicClock() {
    PackageRules.takeDurationsFromTheMonotonicClock(CLASSES.that(DIRECT));
  }
}
