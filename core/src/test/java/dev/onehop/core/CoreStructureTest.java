package dev.onehop.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Core depends only on BSON and has no input or output. */
class CoreStructureTest {
  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.onehop.core");

  @Test
  void dependsOnlyOnJavaAndBson() {
    assertThat(CORE.size()).isGreaterThan(40);
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.onehop.core..", "java..", "org.bson..", "org.jspecify..")
        .check(CORE);
  }

  @Test
  void hasNoInputOrOutput() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideOutsideOfPackages(
            "java.io..", "java.net..", "java.nio.file..", "java.nio.channels..")
        .check(CORE);
  }

  @Test
  void packagesDependInOneDirection() {
    slices().matching("dev.onehop.core.(*)..").should().beFreeOfCycles().check(CORE);
    classes()
        .that()
        .resideInAPackage("dev.onehop.core.bson")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("dev.onehop.core.bson", "java..", "org.bson..", "org.jspecify..")
        .check(CORE);
  }
}
