package dev.onehop.jmh;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The packages of the routing module that benchmarks may use. */
class JmhStructureTest {

  @Test
  void benchmarksUseNoInternalPackage() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.onehop.routing.internal..")
        .check(new ClassFileImporter().importPackages("dev.onehop.jmh"));
  }
}
