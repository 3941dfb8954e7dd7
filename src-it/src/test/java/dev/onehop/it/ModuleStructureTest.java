package dev.onehop.it;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Checks which modules may use which other modules. The module jmh has a separate test. */
class ModuleStructureTest {
  private static final List<String> MODULES =
      List.of(
          "dev.onehop.wire",
          "dev.onehop.shards",
          "dev.onehop.routing",
          "dev.onehop.testbed",
          "dev.onehop.cli",
          "dev.onehop.measure",
          "dev.onehop.resync",
          "dev.onehop.streams",
          "dev.onehop.copy",
          "dev.onehop.ycsb",
          "dev.onehop.auth",
          "dev.onehop.it");
  private static final JavaClasses CLASSES = new ClassFileImporter().importPackages("dev.onehop");

  @Test
  void onlyRoutingUsesItsInternals() {
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

  /**
   * These packages are public only for other modules. They are no part of OneHop's API, as their
   * package-info says.
   */
  @Test
  void onlyListedModulesUseWireAndShards() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "dev.onehop.wire..",
            "dev.onehop.shards..",
            "dev.onehop.routing..",
            "dev.onehop.streams..",
            "dev.onehop.copy..",
            "dev.onehop.testbed..",
            "dev.onehop.auth..",
            "dev.onehop.it..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.onehop.wire..", "dev.onehop.shards..")
        .check(CLASSES);
  }

  @Test
  void noPackageIsInTwoModules() {
    Map<String, Set<String>> modules = new TreeMap<>();
    for (JavaClass each : CLASSES) {
      String file = each.getSource().orElseThrow().getUri().toString();
      if (!file.contains("-tests.jar") && !file.contains("/test-classes/")) {
        modules
            .computeIfAbsent(each.getPackageName(), name -> new TreeSet<>())
            .add(file.substring(0, file.indexOf("/dev/onehop/")));
      }
    }
    assertThat(modules).hasSizeGreaterThan(MODULES.size());
    assertThat(modules.values()).allSatisfy(in -> assertThat(in).hasSize(1));
  }

  @Test
  void onlyTestsUseSetupPackage() {
    noClasses()
        .that()
        .resideOutsideOfPackages("dev.onehop.routing.setup..", "dev.onehop.it..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.onehop.routing.setup..")
        .check(CLASSES);
  }
}
