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
 * @param file its folder and file, as in {@code crud/find}
 * @param shared what all tests of the file have in common
 * @param test the test's own part
 */
record SpecificationTest(String file, BsonDocument shared, BsonDocument test) {
  /** How the lists of expected failures name it. */
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

  /** The requirements of the file and of the test: one of each must hold. */
  List<BsonArray> requirements() {
    return List.of(sharedArray("runOnRequirements"), array("runOnRequirements"));
  }

  /** Why the specification itself leaves the test out; empty if it doesn't. */
  String skipReason() {
    return test.getString("skipReason", new BsonString("")).getValue();
  }

  /** Whether one of its operations has that name. */
  boolean uses(String operation) {
    return array("operations").stream()
        .map(BsonValue::asDocument)
        .anyMatch(each -> each.getString("name").getValue().equals(operation));
  }

  /** The fail points that its operations set. */
  Set<String> failPoints() {
    return array("operations").stream()
        .map(each -> each.asDocument().getDocument("arguments", new BsonDocument()))
        .filter(arguments -> arguments.containsKey("failPoint"))
        .map(arguments -> arguments.getDocument("failPoint").getString("configureFailPoint"))
        .map(BsonString::getValue)
        .collect(Collectors.toSet());
  }
}
