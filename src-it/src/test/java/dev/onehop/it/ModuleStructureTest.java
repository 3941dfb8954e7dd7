package dev.onehop.it;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the modules on this classpath may use of the routing module; jmh has a test of its own. */
class ModuleStructureTest {
  private static final List<String> MODULES =
      List.of(
          "dev.onehop.testbed",
          "dev.onehop.cli",
          "dev.onehop.streams",
          "dev.onehop.copy",
          "dev.onehop.ycsb",
          "dev.onehop.it");
  private static final JavaClasses CLASSES = new ClassFileImporter().importPackages("dev.onehop");

  @Test
  void nothingOutsideTheRoutingModuleUsesItsInternals() {
    for (String module : MODULES) {
      assertThat(CLASSES.that(resideInAPackage(module + ".."))).as(module).isNotEmpty();
    }
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.onehop.routing..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.onehop.routing.internal..")
        .check(CLASSES);
  }
}
