package dev.onehop.copy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import dev.onehop.wire.PackageRules;
import org.junit.jupiter.api.Test;

/** The dependencies between packages have no cycles. */
class StructureTest {
  private static final String ROOT = "dev.onehop.copy";
  private static final JavaClasses CLASSES = PackageRules.classesOf(ROOT);

  @Test
  void packagesHaveNoCycles() {
    PackageRules.haveNoCycles(CLASSES);
  }

  @Test
  void usesNoInternalsOfOtherModules() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "com.mongodb.internal..",
            "dev.onehop.routing.internal..",
            "dev.onehop.streams.internal..")
        .check(CLASSES);
  }
}
