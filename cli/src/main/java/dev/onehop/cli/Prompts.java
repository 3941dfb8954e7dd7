package dev.onehop.cli;

import dev.onehop.measure.delivery.Measurement;
import dev.onehop.resync.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks in a terminal for the measurements and their sizes.
 *
 * @param in the source of the answers
 * @param out the destination of the questions
 */
record Prompts(BufferedReader in, PrintStream out) {

  /**
   * Shows the menu, and repeats the question until the answer is in the menu.
   *
   * @param all the possible measurements
   * @return one measurement, or all
   * @throws Failure if the input has ended
   */
  List<Measurement> measurements(List<Measurement> all) {
    out.println("Measurements:");
    for (int i = 0; i < all.size(); i++) {
      out.printf("  %d  %-17s %s%n", i + 1, all.get(i).label(), all.get(i).description());
    }
    int last = all.size() + 1;
    out.printf("  %d  all of them%n", last);
    int choice = number("Measurement", 1, 1, last);
    return choice == last ? all : List.of(all.get(choice - 1));
  }

  /**
   * Asks for a number, and repeats the question until the answer is in the range. An empty answer
   * selects the default.
   *
   * @throws Failure if the input has ended
   */
  int number(String question, int usual, int least, int most) {
    return numbers(question, usual, least, most, 1, "A number from %d to %d, please.").get(0);
  }

  /**
   * Asks for one or several numbers, separated by commas, and repeats the question until all of
   * them are in the range.
   *
   * @throws Failure if the input has ended
   */
  List<Integer> numbers(String question, int usual, int least, int most) {
    String wrong = "Numbers from %d to %d, please, with commas between them.";
    return numbers(question, usual, least, most, Integer.MAX_VALUE, wrong);
  }

  private List<Integer> numbers(
      String question, int usual, int least, int most, int count, String wrong) {
    while (true) {
      List<Integer> numbers = new ArrayList<>();
      List<String> answers = List.of(ask(question, String.valueOf(usual)).split(",", -1));
      for (String each : answers) {
        // A number with more than nine digits is too large, and may not fit into an int.
        int number = each.strip().matches("\\d{1,9}") ? Integer.parseInt(each.strip()) : -1;
        if (number >= least && number <= most) {
          numbers.add(number);
        }
      }
      if (numbers.size() == answers.size() && numbers.size() <= count) {
        return numbers;
      }
      out.println(wrong.formatted(least, most));
    }
  }

  private String ask(String question, String usual) {
    out.print(question + " [" + usual + "]: ");
    out.flush();
    String line;
    try {
      line = in.readLine();
    } catch (IOException e) {
      throw Failure.run("cannot read the answer: " + Failure.reason(e), e);
    }
    if (line == null) {
      out.println();
      throw Failure.usage("no answer; see onehop propagate --help for the options");
    }
    return line.isBlank() ? usual : line.strip();
  }
}
