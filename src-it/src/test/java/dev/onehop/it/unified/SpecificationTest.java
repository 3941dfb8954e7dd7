package dev.onehop.it.unified;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * One test of a specification.
 *
 * @param file the folder and file, as in {@code crud/find}
 * @param shared the content that all tests of the file share
 * @param test the content for this test only
 */
record SpecificationTest(String file, BsonDocument shared, BsonDocument test) {
  /** The name of the test in the lists of expected failures. */
  String id() {
    return file + ": " + test.getString("description").getValue();
  }

  String folder() {
    return file.substring(0, file.indexOf('/'));
  }

  BsonArray sharedArray(String name) {
    return shared.getArray(name, new BsonArray());
  }

  BsonArray array(String name) {
    return test.getArray(name, new BsonArray());
  }

  /**
   * The requirements of the file, and the requirements of the test. One of each list must be met.
   */
  List<BsonArray> requirements() {
    return List.of(sharedArray("runOnRequirements"), array("runOnRequirements"));
  }

  /** The reason why the specification skips the test; empty if it does not skip the test. */
  String skipReason() {
    return test.getString("skipReason", new BsonString("")).getValue();
  }

  /** Whether the test has an operation with this name. */
  boolean uses(String operation) {
    return array("operations").stream()
        .map(BsonValue::asDocument)
        .anyMatch(each -> each.getString("name").getValue().equals(operation));
  }

  /** The names of the fail points that the test sets. */
  Set<String> failPoints() {
    return array("operations").stream()
        .map(each -> each.asDocument().getDocument("arguments", new BsonDocument()))
        .filter(arguments -> arguments.containsKey("failPoint"))
        .map(arguments -> arguments.getDocument("failPoint").getString("configureFailPoint"))
        .map(BsonString::getValue)
        .collect(Collectors.toSet());
  }
}
