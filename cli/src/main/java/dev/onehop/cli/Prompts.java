package dev.onehop.cli;

import dev.onehop.measure.delivery.Measurement;
import dev.onehop.resync.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Asks in a terminal for the measurements and their sizes. */
final class Prompts {

  private final BufferedReader in;
  private final PrintStream out;

  /**
   * Creates the prompts.
   *
   * @param in the source of the answers
   * @param out the destination of the questions
   */
  Prompts(BufferedReader in, PrintStream out) {
    this.in = in;
    this.out = out;
  }

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
   * Asks for a number until one is in the range; an empty answer selects the default.
   *
   * @throws Failure if the input has ended
   */
  int number(String question, int usual, int least, int most) {
    while (true) {
      String answer = ask(question, String.valueOf(usual));
      if (answer.matches("\\d{1,9}")
          && Integer.parseInt(answer) >= least
          && Integer.parseInt(answer) <= most) {
        return Integer.parseInt(answer);
      }
      out.println("A number from " + least + " to " + most + ", please.");
    }
  }

  /**
   * Asks for one or several numbers, separated by commas, until all are in the range.
   *
   * @throws Failure if the input has ended
   */
  List<Integer> numbers(String question, int usual, int least, int most) {
    while (true) {
      List<Integer> numbers = new ArrayList<>();
      boolean right = true;
      for (String each : ask(question, String.valueOf(usual)).split(",", -1)) {
        String number = each.strip();
        right &=
            number.matches("\\d{1,9}")
                && Integer.parseInt(number) >= least
                && Integer.parseInt(number) <= most;
        if (right) {
          numbers.add(Integer.parseInt(number));
        }
      }
      if (right) {
        return numbers;
      }
      out.println("Numbers from " + least + " to " + most + ", please, with commas between them.");
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
